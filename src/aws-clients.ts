import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import type { Config } from './config.ts';
import type { ObjectStore } from './storage/object-store.ts';
import { s3ObjectStore } from './storage/s3.ts';
import type { Table } from './storage/table.ts';
import { dynamoTable } from './storage/table.ts';

/** At the endpoint and with the credentials of the standard AWS environment. */
export function s3Client(config: Pick<Config, 's3Checksums' | 's3PathStyle'>): S3Client {
  const checksums = config.s3Checksums === 'when_required' ? 'WHEN_REQUIRED' : 'WHEN_SUPPORTED';
  return new S3Client({
    forcePathStyle: config.s3PathStyle,
    requestChecksumCalculation: checksums,
    responseChecksumValidation: checksums,
  });
}

export function s3Store(bucket: string, config: Pick<Config, 's3Checksums' | 's3PathStyle'>): ObjectStore {
  return s3ObjectStore(s3Client(config), { bucket });
}

/** The table, in the given region or the one of the standard AWS environment. */
export function awsTable(table: string, region?: string): Table {
  return dynamoTable(new DynamoDBClient(region === undefined ? {} : { region }), { table });
}
