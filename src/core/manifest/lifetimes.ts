/** Tag of objects that S3 deletes by itself; a lifecycle rule cannot name a prefix below every tenant (S3 User Guide, "Lifecycle configuration elements"). */
export const LIFETIME_TAG = 'skillbucket-lifetime';
/** An archive is of no use once it is published; a record outlives every redelivery of its event (a queue keeps 14 days). */
export const LIFETIME_DAYS = { upload: 2, record: 30 } as const;
export type Lifetime = keyof typeof LIFETIME_DAYS;
