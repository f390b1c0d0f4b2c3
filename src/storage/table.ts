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

/** An expression with its values, and with names for attributes whose own are reserved words of DynamoDB. */
export interface Condition {
  readonly expression: string;
  readonly names?: Readonly<Record<`#${string}`, string>>;
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
  /**
   * Adds to numbers of an item, which begin at 0, and sets its other attributes; makes the item when there is none.
   * Tells the sums.
   */
  add(
    key: TableKey,
    amounts: Readonly<Record<string, number>>,
    attributes?: Item,
  ): Promise<Readonly<Record<string, number>>>;
  /** Items of a partition in the order of their sort keys: all, or those of a range. */
  query(pk: string, range?: KeyRange): AsyncIterable<Item>;
}

/** Sort keys, both ends included. */
export interface KeyRange {
  readonly from: string;
  readonly to: string;
  /** How many are read at once, for who will not want them all. */
  readonly pageSize?: number;
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

    async add(key, amounts, attributes = {}) {
      const names = { sums: Object.keys(amounts), others: Object.keys(attributes) };
      const set = names.others.map((name) => `${name} = :set_${name}`);
      const added = names.sums.map((name) => `${name} :add_${name}`);
      const answer = await client
        .send(
          new UpdateItemCommand({
            TableName,
            Key: keyOf(key),
            UpdateExpression: [
              `ADD ${added.join(', ')}`,
              ...(set.length === 0 ? [] : [`SET ${set.join(', ')}`]),
            ].join(' '),
            ExpressionAttributeValues: marshall({
              ...Object.fromEntries(names.sums.map((name) => [`:add_${name}`, amounts[name]])),
              ...Object.fromEntries(names.others.map((name) => [`:set_${name}`, attributes[name]])),
            }),
            ReturnValues: 'UPDATED_NEW',
          }),
        )
        .catch(unavailable);
      const sums = unmarshall(answer.Attributes ?? {});
      return Object.fromEntries(names.sums.map((name) => [name, Number(sums[name])]));
    },

    async *query(pk, range) {
      let start: Record<string, AttributeValue> | undefined;
      do {
        const page = await client
          .send(
            new QueryCommand({
              TableName,
              KeyConditionExpression:
                range === undefined ? 'pk = :pk' : 'pk = :pk AND sk BETWEEN :from AND :to',
              ExpressionAttributeValues: marshall({
                ':pk': pk,
                ...(range === undefined ? {} : { ':from': range.from, ':to': range.to }),
              }),
              ConsistentRead: true,
              ...(range?.pageSize === undefined ? {} : { Limit: range.pageSize }),
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
    ...(condition.names === undefined ? {} : { ExpressionAttributeNames: condition.names }),
    ...(condition.values === undefined ? {} : { ExpressionAttributeValues: marshall(condition.values) }),
  };
}

function unavailable(error: unknown): never {
  throw new SkillError('unavailable', { detail: 'The session store cannot answer now.', cause: error });
}
