import { Duration } from 'aws-cdk-lib';
import type { Distribution } from 'aws-cdk-lib/aws-cloudfront';
import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import { Alarm, ComparisonOperator, Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Operation } from 'aws-cdk-lib/aws-dynamodb';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { EDGE_REGION } from './edge-functions.ts';
import type { Settings } from './settings.ts';
import type { Uploads } from './uploads.ts';

export interface Watched {
  readonly api: LambdaFunction;
  readonly indexer: LambdaFunction;
  readonly uploads: Uploads;
  readonly table: Table;
  readonly distribution: Distribution;
}

interface Watch {
  readonly id: string;
  /** What it means and where to look; it is what the one who is woken reads. */
  readonly says: string;
  readonly metric: IMetric;
  readonly threshold: number;
  /** Of how many periods in a row; 1 unless a single one is noise. */
  readonly periods?: number;
}

const PERIOD = Duration.minutes(5);

export function alarms(scope: Construct, settings: Settings, watched: Watched): void {
  const topic =
    settings.alarmTopicArn === undefined
      ? undefined
      : Topic.fromTopicArn(scope, 'AlarmTopic', settings.alarmTopicArn);
  for (const { id, says, metric, threshold, periods = 1 } of watches(settings, watched)) {
    const alarm = new Alarm(scope, id, {
      alarmDescription: `Skillbucket ${settings.stage}: ${says}`,
      metric,
      threshold,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: periods,
      // No request, no queue, no figures: nothing is wrong.
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    if (topic !== undefined) {
      alarm.addAlarmAction(new SnsAction(topic));
      alarm.addOkAction(new SnsAction(topic));
    }
  }
}

/** Answers of the service itself: the function may well return a 500 without an error of Lambda. */
export function answers(
  api: LambdaFunction,
  status: 'Url4xxCount' | 'Url5xxCount' | 'UrlRequestCount',
): Metric {
  return new Metric({
    namespace: 'AWS/Lambda',
    metricName: status,
    dimensionsMap: { FunctionName: api.functionName },
    statistic: 'Sum',
    period: PERIOD,
  });
}

function watches(settings: Settings, watched: Watched): Watch[] {
  const { api, indexer, uploads, table, distribution } = watched;
  const all: Watch[] = [
    {
      id: 'ApiErrors',
      says: 'the API answers with errors of its own (5xx). Look for "level":50 in its log.',
      metric: answers(api, 'Url5xxCount'),
      threshold: 5,
    },
    {
      id: 'ApiCrashes',
      says: 'the API crashes, runs out of memory or time. Look at the end of its log streams.',
      metric: api.metricErrors({ period: PERIOD }),
      threshold: 1,
    },
    {
      id: 'ApiThrottles',
      says: "requests are refused because the account's concurrency is used up. Raise the quota.",
      metric: api.metricThrottles({ period: PERIOD }),
      threshold: 1,
    },
    {
      id: 'IndexerErrors',
      says: 'the indexer crashes. Its events are tried again; look at its log.',
      metric: indexer.metricErrors({ period: PERIOD }),
      threshold: 1,
    },
    {
      id: 'IndexerThrottles',
      says: "the indexer is held back because the account's concurrency is used up.",
      metric: indexer.metricThrottles({ period: PERIOD }),
      threshold: 1,
      periods: 3,
    },
    {
      id: 'UploadsOld',
      says: 'an upload has been waiting for 15 minutes. Is the indexer running, and failing?',
      metric: uploads.queue.metricApproximateAgeOfOldestMessage({ period: PERIOD }),
      threshold: 15 * 60,
    },
    {
      id: 'UploadsFailedDepth',
      says: 'uploads failed five times and were put aside. Repair, then redrive the queue.',
      metric: uploads.failed.metricApproximateNumberOfMessagesVisible({ period: PERIOD }),
      threshold: 1,
    },
    {
      id: 'UploadsUndeliveredDepth',
      says: "EventBridge could not put events into the queue. Look at the queue's policy.",
      metric: uploads.undelivered.metricApproximateNumberOfMessagesVisible({ period: PERIOD }),
      threshold: 1,
    },
    {
      id: 'TableThrottles',
      says: 'DynamoDB refuses requests: one session is very busy, or a limit of the account is met.',
      metric: table.metricThrottledRequestsForOperations({
        operations: [Operation.GET_ITEM, Operation.PUT_ITEM, Operation.UPDATE_ITEM, Operation.QUERY],
        period: PERIOD,
      }),
      threshold: 1,
      periods: 2,
    },
  ];
  // CloudFront's figures are in us-east-1 alone, and an alarm sees its own region alone.
  if (settings.region !== EDGE_REGION) return all;
  return [
    ...all,
    {
      id: 'EdgeErrors',
      says: 'CloudFront answers 5% or more with errors (5xx). If the API has none, look at the function HashBody.',
      metric: distribution.metric5xxErrorRate({ period: PERIOD }),
      threshold: 5,
      periods: 2,
    },
  ];
}
