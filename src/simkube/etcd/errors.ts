/** gRPC status codes used by etcd. */
export const grpcCode = {
  ok: 0,
  invalidArgument: 3,
  notFound: 5,
  permissionDenied: 7,
  failedPrecondition: 9,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
} as const;

/** An error with etcd's own message. */
export class EtcdError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = 'EtcdError';
    this.code = code;
  }
}

export const etcdErrors = {
  timeout: (): EtcdError => new EtcdError(grpcCode.unavailable, 'etcdserver: request timed out'),
  noLeader: (): EtcdError => new EtcdError(grpcCode.unavailable, 'etcdserver: no leader'),
  stopped: (): EtcdError => new EtcdError(grpcCode.unavailable, 'etcdserver: server stopped'),
  memberNotFound: (): EtcdError => new EtcdError(grpcCode.notFound, 'etcdserver: member not found'),
  peerUrlExists: (): EtcdError => new EtcdError(grpcCode.failedPrecondition, 'etcdserver: Peer URLs already exists'),
  tooManyLearners: (): EtcdError =>
    new EtcdError(grpcCode.failedPrecondition, 'etcdserver: too many learner members in cluster'),
  notLearner: (): EtcdError =>
    new EtcdError(grpcCode.failedPrecondition, 'etcdserver: can only promote a learner member'),
  learnerNotReady: (): EtcdError =>
    new EtcdError(
      grpcCode.failedPrecondition,
      'etcdserver: can only promote a learner member which is in sync with leader',
    ),
  notEnoughStarted: (): EtcdError =>
    new EtcdError(grpcCode.failedPrecondition, 'etcdserver: re-configuration failed due to not enough started members'),
  notLeader: (): EtcdError => new EtcdError(grpcCode.failedPrecondition, 'etcdserver: not leader'),
  badTransferee: (): EtcdError => new EtcdError(grpcCode.failedPrecondition, 'etcdserver: bad leader transferee'),
  rootUserMissing: (): EtcdError => new EtcdError(grpcCode.failedPrecondition, 'etcdserver: root user does not exist'),
  rootRoleMissing: (): EtcdError =>
    new EtcdError(grpcCode.failedPrecondition, 'etcdserver: root user does not have root role'),
  userExists: (): EtcdError => new EtcdError(grpcCode.failedPrecondition, 'etcdserver: user name already exists'),
  userNameEmpty: (): EtcdError => new EtcdError(grpcCode.failedPrecondition, 'etcdserver: user name is empty'),
  userNotFound: (): EtcdError => new EtcdError(grpcCode.failedPrecondition, 'etcdserver: user name not found'),
  userEmpty: (): EtcdError => new EtcdError(grpcCode.invalidArgument, 'etcdserver: user name is empty'),
  roleExists: (): EtcdError => new EtcdError(grpcCode.failedPrecondition, 'etcdserver: role name already exists'),
  roleNameEmpty: (): EtcdError => new EtcdError(grpcCode.failedPrecondition, 'etcdserver: role name is empty'),
  roleNotFound: (): EtcdError => new EtcdError(grpcCode.failedPrecondition, 'etcdserver: role name not found'),
  roleNotGranted: (): EtcdError =>
    new EtcdError(grpcCode.failedPrecondition, 'etcdserver: role is not granted to the user'),
  permissionNotGranted: (): EtcdError =>
    new EtcdError(grpcCode.failedPrecondition, 'etcdserver: permission is not granted to the role'),
  permissionDenied: (): EtcdError => new EtcdError(grpcCode.permissionDenied, 'etcdserver: permission denied'),
  invalidAuthManagement: (): EtcdError =>
    new EtcdError(grpcCode.invalidArgument, 'etcdserver: invalid auth management'),
};
