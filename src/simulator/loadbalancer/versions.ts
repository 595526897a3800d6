import type { Answer, Route } from '../core/service.ts';

/** Release time of every minor version of the API, to the hour. */
const finished = [
  '2016-12-11T00',
  '2018-04-20T00',
  '2018-07-31T00',
  '2018-12-18T00',
  '2018-12-19T00',
  '2019-01-21T00',
  '2019-01-25T00',
  '2018-01-25T12',
  '2019-02-12T00',
  '2019-03-04T00',
  '2019-03-05T00',
  '2019-06-24T00',
  '2019-09-11T00',
  '2019-09-13T00',
  '2019-11-10T00',
  '2020-03-10T00',
  '2020-03-15T00',
  '2020-04-29T00',
  '2020-04-29T01',
  '2020-05-12T00',
  '2020-08-02T00',
  '2020-09-03T00',
  '2020-09-04T00',
  '2020-09-07T00',
  '2020-10-15T00',
  '2021-10-02T00',
  '2022-08-29T00',
];

/** Routes of the version document. Minor versions document features and are not negotiated. */
export const versionRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/',
    open: true,
    handle: ({ serviceUrl }): Answer => ({
      status: 200,
      body: {
        versions: finished.map((hour, minor) => ({
          id: `v2.${minor}`,
          status: minor === finished.length - 1 ? 'CURRENT' : 'SUPPORTED',
          updated: `${hour}:00:00Z`,
          links: [{ href: `${serviceUrl}/v2`, rel: 'self' }],
        })),
      },
    }),
  },
  ...['/v2.0', '/v2', '/v2.0/lbaas', '/v2/lbaas'].map(
    (path): Route => ({
      method: 'GET',
      path,
      handle: (): Answer => ({ status: 200, bytes: 'v2', contentType: 'application/json' }),
    }),
  ),
];
