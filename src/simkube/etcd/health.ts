import type { HttpAnswer } from '../types.ts';
import type { EtcdEndpoint } from './endpoint.ts';

/** Answers GET requests of probes. */
export function answerHealth({ cluster, memberId, version, data }: EtcdEndpoint, path: string): HttpAnswer {
  const [plain = ''] = path.split('?');
  const isServing = cluster.isRunning(memberId);
  const alarm = cluster.alarms.find((each) => each.memberId === memberId);
  const problem = !isServing
    ? 'RAFT NO LEADER'
    : cluster.leaderId === undefined
      ? 'RAFT NO LEADER'
      : alarm
        ? `ALARM ${alarm.type}`
        : undefined;
  switch (plain) {
    case '/health':
      return {
        status: problem === undefined ? 200 : 503,
        body: JSON.stringify({ health: String(problem === undefined), reason: problem ?? '' }),
      };
    case '/readyz':
      return problem === undefined ? ok : { status: 503, body: `[-]linearizable_read failed: ${problem}\n` };
    case '/livez':
      return isServing ? ok : { status: 503, body: '[-]serializable_read failed: server stopped\n' };
    case '/version':
      return {
        status: 200,
        body: JSON.stringify({ etcdserver: version, etcdcluster: `${cluster.version ?? '0.0'}.0` }),
      };
    case '/metrics':
      return { status: 200, body: metricsText(cluster.leaderId, memberId, data.bytes()) };
    default:
      return { status: 404, body: '404 page not found\n' };
  }
}

const ok: HttpAnswer = { status: 200, body: 'ok\n' };

function metricsText(leaderId: string | undefined, memberId: string, bytes: number): string {
  return [
    `etcd_server_has_leader ${leaderId === undefined ? 0 : 1}`,
    `etcd_server_is_leader ${leaderId === memberId ? 1 : 0}`,
    `etcd_mvcc_db_total_size_in_bytes ${bytes}`,
    `etcd_mvcc_db_total_size_in_use_in_bytes ${bytes}`,
    '',
  ].join('\n');
}
