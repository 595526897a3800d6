import { bytesField } from '../../../machinery/index.ts';
import type { GrpcChannel } from './grpc.ts';
import { EtcdError, type EtcdTenant, type EtcdTenants } from './types.ts';
import { numberMessage } from './wire.ts';

const auth = '/etcdserverpb.Auth';
const keys = '/etcdserverpb.KV';
const readWrite = 2n;
const root = 'root';

/** Errors of etcd for creating or deleting something twice. They count as success, so calls are idempotent. */
const alreadyThere = /already exists|already granted|role name already|user name already/i;
const alreadyGone = /not found|does not exist|not granted/i;

/** Manages users, roles and keys of tenants. Every step is idempotent, because a crash may have followed it. */
export function etcdTenants(channel: GrpcChannel): EtcdTenants {
  const attempt = async (path: string, request: Buffer, fine: RegExp, signal: AbortSignal): Promise<void> => {
    try {
      await channel.call(path, request, signal);
    } catch (error) {
      if (!(error instanceof EtcdError) || error.status === undefined || !fine.test(error.message)) throw error;
    }
  };
  const addUser = (name: string, signal: AbortSignal): Promise<void> =>
    // no password: etcd takes the common name of the client certificate as the user
    attempt(
      `${auth}/UserAdd`,
      Buffer.concat([bytesField(1, name), bytesField(3, numberMessage(1, 1n))]),
      alreadyThere,
      signal,
    );
  const addRole = (name: string, signal: AbortSignal): Promise<void> =>
    attempt(`${auth}/RoleAdd`, bytesField(1, name), alreadyThere, signal);
  const grant = (user: string, role: string, signal: AbortSignal): Promise<void> =>
    attempt(`${auth}/UserGrantRole`, Buffer.concat([bytesField(1, user), bytesField(2, role)]), alreadyThere, signal);
  return {
    async ensure({ user, role, prefix }, signal) {
      await addUser(user, signal);
      await addRole(role, signal);
      const permission = Buffer.concat([
        numberMessage(1, readWrite),
        bytesField(2, prefix),
        bytesField(3, endOf(prefix)),
      ]);
      await attempt(
        `${auth}/RoleGrantPermission`,
        Buffer.concat([bytesField(1, role), bytesField(2, permission)]),
        alreadyThere,
        signal,
      );
      await grant(user, role, signal);
    },
    async drop({ user, role, prefix }: EtcdTenant, options, signal) {
      if (options.keys) {
        await channel.call(
          `${keys}/DeleteRange`,
          Buffer.concat([bytesField(1, prefix), bytesField(2, endOf(prefix))]),
          signal,
        );
      }
      await attempt(`${auth}/UserDelete`, bytesField(1, user), alreadyGone, signal);
      await attempt(`${auth}/RoleDelete`, bytesField(1, role), alreadyGone, signal);
    },
    async enforce(signal) {
      await addUser(root, signal);
      await addRole(root, signal);
      await grant(root, root, signal);
      await channel.call(`${auth}/AuthEnable`, Buffer.alloc(0), signal);
    },
  };
}

/** Returns the range end for a prefix. */
function endOf(prefix: string): Buffer {
  const end = Buffer.from(prefix);
  for (let at = end.length - 1; at >= 0; at--) {
    const byte = end[at] ?? 0xff;
    if (byte === 0xff) continue;
    end[at] = byte + 1;
    return end.subarray(0, at + 1);
  }
  return Buffer.from([0]);
}
