/** Creates buckets on the S3 server of the tests, which `npm test` starts if OpenStack Swift is installed. */
import { randomUUID } from 'node:crypto';
import { AwsClient } from 'aws4fetch';
import type { ObjectStoreSettings } from '../object-storage/object-store.ts';

const { TEST_S3_ENDPOINT, TEST_S3_REGION, TEST_S3_ACCESS_KEY_ID, TEST_S3_SECRET_ACCESS_KEY } = process.env;

/** The reason why tests of object storage are skipped; null when there is an S3 server to test with. */
export const withoutObjectStore =
  TEST_S3_ENDPOINT === undefined ? 'TEST_S3_ENDPOINT names no S3 server: object storage is not tested' : null;

/** Creates an empty bucket. Its objects remain until the server is stopped after the tests. */
export async function makeBucket(prefix = ''): Promise<ObjectStoreSettings> {
  const settings: ObjectStoreSettings = {
    endpoint: TEST_S3_ENDPOINT ?? '',
    bucket: `test-${randomUUID()}`,
    prefix,
    region: TEST_S3_REGION ?? 'us-east-1',
    accessKeyId: TEST_S3_ACCESS_KEY_ID ?? '',
    secretAccessKey: TEST_S3_SECRET_ACCESS_KEY ?? '',
  };
  const { endpoint, bucket, region, accessKeyId, secretAccessKey } = settings;
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3' });
  const response = await client.fetch(`${endpoint}/${bucket}`, { method: 'PUT' });
  if (!response.ok)
    throw new Error(`The S3 server did not create a bucket: ${response.status} ${await response.text()}`);
  return settings;
}
