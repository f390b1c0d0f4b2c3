import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { arrivedObjects } from '../../src/events/upload-events.ts';

/** Messages as a queue got them from LocalStack 4.13.1, for keys as uploads have them and for one that needs encoding. */
const recorded = (name: string): string =>
  readFileSync(new URL(`../support/events/${name}.json`, import.meta.url), 'utf8');

const UPLOAD = 'tenants/acme/uploads/main/0123456789abcdef0123456789abcdef';

test.each([
  ['eventbridge-upload', 'skills-by-eventbridge', UPLOAD],
  ['notification-upload', 'skills-by-notification', UPLOAD],
  ['notification-encoded-key', 'skills-by-notification', 'tenants/acme/uploads/main/a b+c (ä) & 漢=%41.zip'],
  // LocalStack encodes here too, and S3 does not (docs/localstack.md); so the key is taken as it stands.
  [
    'eventbridge-encoded-key',
    'skills-by-eventbridge',
    'tenants/acme/uploads/main/a%20b%2Bc%20%28%C3%A4%29%20%26%20%E6%BC%A2%3D%2541.zip',
  ],
])('[D6] %s tells the object', (name, bucket, key) => {
  expect(arrivedObjects(recorded(name))).toEqual([{ bucket, key }]);
});

test('[D6] a notification as S3 itself encodes it, with + for a space, tells the same object', () => {
  const message = recorded('notification-encoded-key');
  expect(arrivedObjects(message.replaceAll('%20', '+'))).toEqual(arrivedObjects(message));
});

test('[D6] the message that S3 sends when notifications are switched on tells of nothing', () => {
  expect(arrivedObjects(recorded('notification-test'))).toEqual([]);
});
