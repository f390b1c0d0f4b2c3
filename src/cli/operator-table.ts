import { awsTable } from '../aws-clients.ts';
import { readConfig } from '../config.ts';
import type { CredentialStore } from '../tenancy/credential-store.ts';
import { dynamoCredentialStore } from '../tenancy/credential-store.ts';
import type { Io } from './io.ts';
import { UsageError } from './io.ts';
import { readOutputs } from './outputs.ts';

/**
 * Tenants and keys, as an operator with AWS credentials reaches them: in the table that `cdk deploy` told of, or in
 * SKILLBUCKET_TABLE.
 */
export async function operatorCredentials(io: Io, outputs: string | undefined): Promise<CredentialStore> {
  if (outputs !== undefined) {
    const { TableName, Region } = await readOutputs(outputs);
    return dynamoCredentialStore(awsTable(TableName, Region));
  }
  const { table } = readConfig(io.env);
  if (table === undefined) {
    throw new UsageError(
      'Say which table: --outputs FILE (of `cdk deploy --outputs-file`), or SKILLBUCKET_TABLE.',
    );
  }
  return dynamoCredentialStore(awsTable(table));
}
