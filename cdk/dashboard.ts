import { Duration } from 'aws-cdk-lib';
import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import { Dashboard, GraphWidget } from 'aws-cdk-lib/aws-cloudwatch';
import { Operation } from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import type { Watched } from './alarms.ts';
import { answers } from './alarms.ts';
import { EDGE_REGION } from './edge-functions.ts';

const PERIOD = Duration.minutes(5);

/** What one looks at first, from the caller inwards. */
export function dashboard(scope: Construct, watched: Watched): void {
  const { api, indexer, uploads, table, distribution } = watched;
  const graph = (title: string, left: IMetric[], region?: string) =>
    new GraphWidget({ title, left, width: 8, ...(region === undefined ? {} : { region }) });
  new Dashboard(scope, 'Dashboard', {
    defaultInterval: Duration.hours(6),
    widgets: [
      [
        graph('Requests at the edge', [distribution.metricRequests({ period: PERIOD })], EDGE_REGION),
        graph(
          'Errors at the edge, percent',
          [
            distribution.metric4xxErrorRate({ period: PERIOD }),
            distribution.metric5xxErrorRate({ period: PERIOD }),
          ],
          EDGE_REGION,
        ),
        graph('Answers of the API', [
          answers(api, 'UrlRequestCount'),
          answers(api, 'Url4xxCount'),
          answers(api, 'Url5xxCount'),
        ]),
      ],
      [
        graph(
          'API: time, ms',
          ['p50', 'p95', 'p99'].map((statistic) => api.metricDuration({ statistic, period: PERIOD })),
        ),
        graph('API: at once, refused', [
          api.metric('ConcurrentExecutions', { statistic: 'Maximum', period: PERIOD }),
          api.metricThrottles({ period: PERIOD }),
        ]),
        graph('Indexer', [
          indexer.metricInvocations({ period: PERIOD }),
          indexer.metricErrors({ period: PERIOD }),
          indexer.metricThrottles({ period: PERIOD }),
        ]),
      ],
      [
        graph('Uploads: waiting, put aside', [
          uploads.queue.metricApproximateNumberOfMessagesVisible({ period: PERIOD }),
          uploads.failed.metricApproximateNumberOfMessagesVisible({ period: PERIOD }),
          uploads.undelivered.metricApproximateNumberOfMessagesVisible({ period: PERIOD }),
        ]),
        graph('Uploads: oldest, seconds', [
          uploads.queue.metricApproximateAgeOfOldestMessage({ period: PERIOD }),
        ]),
        graph('Table: units used, refused', [
          table.metricConsumedReadCapacityUnits({ period: PERIOD }),
          table.metricConsumedWriteCapacityUnits({ period: PERIOD }),
          table.metricThrottledRequestsForOperations({
            operations: [Operation.GET_ITEM, Operation.PUT_ITEM],
            period: PERIOD,
          }),
        ]),
      ],
    ],
  });
}
