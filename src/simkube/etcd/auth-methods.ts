import type { EtcdAccess, EtcdPermission } from './access.ts';
import { agreed, type EtcdCall, header, type Method } from './endpoint.ts';
import { type Fields, numberOf, readFields, textsOf, writeFields } from './protobuf.ts';

const permissionNumbers = { read: 0, write: 1, both: 2 } as const;

const text = (request: Fields, field: number): string => textsOf(request, field).at(-1) ?? '';

function permissionMessage({ from, to, reads, writes }: EtcdPermission): Buffer {
  const type = reads && writes ? permissionNumbers.both : writes ? permissionNumbers.write : permissionNumbers.read;
  return writeFields({ 1: type, 2: from, 3: to });
}

function readPermission(request: Fields): EtcdPermission {
  const message = request.get(2)?.at(-1);
  const fields = readFields(Buffer.isBuffer(message) ? message : Buffer.alloc(0));
  const type = Number(numberOf(fields, 1));
  const from = text(fields, 2);
  // A permission for one key is stored as a range that contains only this key.
  const to = text(fields, 3) || `${from}\0`;
  return { from, to, reads: type !== permissionNumbers.write, writes: type !== permissionNumbers.read };
}

/** Defines a change of users and roles, which returns only the header. */
const change =
  (work: (access: EtcdAccess, request: Fields) => void): Method =>
  ({ endpoint, user }: EtcdCall, request) => {
    agreed(endpoint);
    const { access } = endpoint.cluster;
    access.checkAdministrator(user);
    work(access, request);
    return writeFields({ 1: header(endpoint) });
  };

/** Users, roles and permissions. */
export const authMethods: Readonly<Record<string, Method>> = {
  '/etcdserverpb.Auth/AuthEnable': change((access) => access.enable()),
  '/etcdserverpb.Auth/AuthDisable': change((access) => access.disable()),
  '/etcdserverpb.Auth/AuthStatus': ({ endpoint }) =>
    writeFields({ 1: header(endpoint), 2: endpoint.cluster.access.isEnabled, 3: 1 }),
  '/etcdserverpb.Auth/UserAdd': change((access, request) => access.addUser(text(request, 1))),
  '/etcdserverpb.Auth/UserDelete': change((access, request) => access.deleteUser(text(request, 1))),
  '/etcdserverpb.Auth/UserChangePassword': change((access, request) => void access.rolesOf(text(request, 1))),
  '/etcdserverpb.Auth/UserGrantRole': change((access, request) => access.grantRole(text(request, 1), text(request, 2))),
  '/etcdserverpb.Auth/UserRevokeRole': change((access, request) =>
    access.revokeRole(text(request, 1), text(request, 2)),
  ),
  '/etcdserverpb.Auth/UserGet': ({ endpoint }, request) =>
    writeFields({ 1: header(endpoint), 2: endpoint.cluster.access.rolesOf(text(request, 1)) }),
  '/etcdserverpb.Auth/UserList': ({ endpoint }) =>
    writeFields({ 1: header(endpoint), 2: endpoint.cluster.access.users }),
  '/etcdserverpb.Auth/RoleAdd': change((access, request) => access.addRole(text(request, 1))),
  '/etcdserverpb.Auth/RoleDelete': change((access, request) => access.deleteRole(text(request, 1))),
  '/etcdserverpb.Auth/RoleGet': ({ endpoint }, request) => {
    const permissions = endpoint.cluster.access.permissionsOf(text(request, 1));
    return writeFields({ 1: header(endpoint), 2: permissions.map(permissionMessage) });
  },
  '/etcdserverpb.Auth/RoleList': ({ endpoint }) =>
    writeFields({ 1: header(endpoint), 2: endpoint.cluster.access.roles }),
  '/etcdserverpb.Auth/RoleGrantPermission': change((access, request) =>
    access.grantPermission(text(request, 1), readPermission(request)),
  ),
  '/etcdserverpb.Auth/RoleRevokePermission': change((access, request) => {
    const from = text(request, 2);
    access.revokePermission(text(request, 1), { from, to: text(request, 3) || `${from}\0` });
  }),
};
