import type { AttributeValue, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { SkillError } from '../core/errors.ts';
import type { TableKey } from '../core/table-keys.ts';

export type Item = Readonly<Record<string, unknown>>;

/** An expression with its values; attribute names that DynamoDB reserves are avoided by naming. */
export interface Condition {
  readonly expression: string;
  readonly values?: Readonly<Record<string, string | number>>;
}

/** The one table: keys `pk` and `sk` (text), TTL on `expires_at`. What the stores of sessions and tenancy share. */
export interface Table {
  get(key: TableKey): Promise<Item | undefined>;
  /** `"stored"`, or what stands there when the condition does not hold. */
  put(
    key: TableKey,
    item: Item,
    condition?: Condition,
  ): Promise<'stored' | { readonly found: Item | undefined }>;
  /** Sets attributes of an item that meets the condition; tells whether it did. */
  set(key: TableKey, attributes: Item, condition: Condition): Promise<boolean>;
  delete(key: TableKey, condition?: Condition): Promise<void>;
  /** Every item of a partition, read to the last page. */
  query(pk: string): AsyncIterable<Item>;
}

export function dynamoTable(client: DynamoDBClient, options: { readonly table: string }): Table {
  const TableName = options.table;
  const keyOf = (key: TableKey): Record<string, AttributeValue> => marshall(key);

  async function get(key: TableKey): Promise<Item | undefined> {
    const answer = await client
      .send(new GetItemCommand({ TableName, Key: keyOf(key), ConsistentRead: true }))
      .catch(unavailable);
    return answer.Item === undefined ? undefined : unmarshall(answer.Item);
  }

  return {
    get,

    async put(key, item, condition) {
      try {
        await client.send(
          new PutItemCommand({
            TableName,
            Item: marshall({ ...item, ...key }, { removeUndefinedValues: true }),
            ...conditionInput(condition),
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        );
        return 'stored';
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) return unavailable(error);
        // Emulators may leave the old item out of the answer.
        return { found: error.Item === undefined ? await get(key) : unmarshall(error.Item) };
      }
    },

    async set(key, attributes, condition) {
      const names = Object.keys(attributes);
      try {
        await client.send(
          new UpdateItemCommand({
            TableName,
            Key: keyOf(key),
            UpdateExpression: `SET ${names.map((name) => `${name} = :set_${name}`).join(', ')}`,
            ConditionExpression: condition.expression,
            ExpressionAttributeValues: marshall({
              ...condition.values,
              ...Object.fromEntries(names.map((name) => [`:set_${name}`, attributes[name]])),
            }),
          }),
        );
        return true;
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return false;
        return unavailable(error);
      }
    },

    async delete(key, condition) {
      try {
        await client.send(
          new DeleteItemCommand({ TableName, Key: keyOf(key), ...conditionInput(condition) }),
        );
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return;
        unavailable(error);
      }
    },

    async *query(pk) {
      let start: Record<string, AttributeValue> | undefined;
      do {
        const page = await client
          .send(
            new QueryCommand({
              TableName,
              KeyConditionExpression: 'pk = :pk',
              ExpressionAttributeValues: marshall({ ':pk': pk }),
              ConsistentRead: true,
              ...(start === undefined ? {} : { ExclusiveStartKey: start }),
            }),
          )
          .catch(unavailable);
        for (const item of page.Items ?? []) yield unmarshall(item);
        start = page.LastEvaluatedKey;
      } while (start !== undefined);
    },
  };
}

function conditionInput(condition: Condition | undefined): object {
  if (condition === undefined) return {};
  return {
    ConditionExpression: condition.expression,
    ...(condition.values === undefined ? {} : { ExpressionAttributeValues: marshall(condition.values) }),
  };
}

function unavailable(error: unknown): never {
  throw new SkillError('unavailable', { detail: 'The session store cannot answer now.', cause: error });
}
