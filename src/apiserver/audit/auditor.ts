import { type Clock, formatMicroTime, type Random } from '../../machinery/index.ts';
import type { AuthorizationAttributes, AuthorizationDecision } from '../auth/attributes.ts';
import { toApiUserInfo, type UserInfo } from '../auth/user.ts';
import type {
  AuditEvent,
  AuditLevel,
  AuditObjectReference,
  AuditResponseStatus,
  AuditSink,
  AuditStage,
} from './event.ts';

export interface AuditorOptions {
  sink: AuditSink;
  clock: Clock;
  random: Random;
  /** audit level of a request; default: Metadata */
  levelOf?(attributes: AuthorizationAttributes): AuditLevel;
  /** stages that are not recorded */
  omitStages?: readonly AuditStage[];
}

/** Properties of a request that are known before it is served. */
export interface AuditedRequest {
  /** Audit-ID header of the client or a generated id; returned in the Audit-Id header */
  auditId: string;
  uri: string;
  /** attributes of the request; for impersonation, with the impersonated user */
  attributes: AuthorizationAttributes;
  /** the authenticated user of an impersonated request */
  impersonator?: UserInfo;
  /** forwarded addresses first, the address of the connection last */
  sourceIps?: readonly string[];
  userAgent?: string;
}

export interface AuditResponse {
  code: number;
  /** set for failures */
  reason?: string;
  message?: string;
  /** set for created or read objects */
  uid?: string;
  resourceVersion?: string;
}

/** Records the audit events of one request. Each call writes one event. */
export interface AuditTrail {
  /** stores the decision of the authorizer as annotations */
  authorized(decision: AuthorizationDecision): void;
  annotate(key: string, value: string): void;
  /** headers of a long-running response (watch, logs) were sent */
  started(code: number): void;
  completed(response: AuditResponse): void;
}

export interface Auditor {
  /** begins the trail and records RequestReceived */
  begin(request: AuditedRequest): AuditTrail;
  newAuditId(): string;
}

const silent: AuditTrail = { authorized() {}, annotate() {}, started() {}, completed() {} };

function objectReference(attributes: AuthorizationAttributes): AuditObjectReference {
  return {
    resource: attributes.resource,
    ...(attributes.namespace !== '' && { namespace: attributes.namespace }),
    ...(attributes.name !== '' && { name: attributes.name }),
    ...(attributes.group !== '' && { apiGroup: attributes.group }),
    ...(attributes.version !== '' && { apiVersion: attributes.version }),
    ...(attributes.subresource !== '' && { subresource: attributes.subresource }),
  };
}

function responseStatus({ code, reason, message }: AuditResponse): AuditResponseStatus {
  return {
    metadata: {},
    ...(code >= 400 && { status: 'Failure' as const }),
    ...(message !== undefined && { message }),
    ...(reason !== undefined && { reason }),
    code,
  };
}

/** Creates an auditor, which records at most one event per stage of a request. */
export function createAuditor(options: AuditorOptions): Auditor {
  const { sink, clock } = options;
  const omitted = new Set(options.omitStages);

  return {
    newAuditId: () => options.random.uuid(),
    begin(request): AuditTrail {
      const level = options.levelOf?.(request.attributes) ?? 'Metadata';
      if (level === 'None') return silent;
      const { attributes, impersonator } = request;
      const annotations: Record<string, string> = {};
      const received = formatMicroTime(clock.now());
      const common: Omit<AuditEvent, 'stage' | 'stageTimestamp'> = {
        kind: 'Event',
        apiVersion: 'audit.k8s.io/v1',
        level,
        auditID: request.auditId,
        requestURI: request.uri,
        verb: attributes.verb,
        user: toApiUserInfo(impersonator ?? attributes.user),
        ...(impersonator !== undefined && { impersonatedUser: toApiUserInfo(attributes.user) }),
        ...(request.sourceIps !== undefined && request.sourceIps.length > 0 && { sourceIPs: [...request.sourceIps] }),
        ...(request.userAgent !== undefined && { userAgent: request.userAgent }),
        ...(attributes.resourceRequest && { objectRef: objectReference(attributes) }),
        requestReceivedTimestamp: received,
      };
      const emit = (stage: AuditStage, response?: AuditResponse): void => {
        if (omitted.has(stage)) return;
        const { objectRef, ...rest } = common;
        sink.record({
          ...rest,
          stage,
          ...(objectRef !== undefined && {
            objectRef: {
              ...objectRef,
              ...(response?.uid !== undefined && { uid: response.uid }),
              ...(response?.resourceVersion !== undefined && { resourceVersion: response.resourceVersion }),
            },
          }),
          ...(response !== undefined && { responseStatus: responseStatus(response) }),
          stageTimestamp: stage === 'RequestReceived' ? received : formatMicroTime(clock.now()),
          ...(Object.keys(annotations).length > 0 && { annotations: { ...annotations } }),
        });
      };
      emit('RequestReceived');
      let ended = false;
      return {
        authorized({ decision, reason }) {
          annotations['authorization.k8s.io/decision'] = decision === 'allow' ? 'allow' : 'forbid';
          annotations['authorization.k8s.io/reason'] = reason;
        },
        annotate(key, value) {
          annotations[key] = value;
        },
        started: (code) => emit('ResponseStarted', { code }),
        completed(response) {
          if (ended) return;
          ended = true;
          emit('ResponseComplete', response);
        },
      };
    },
  };
}
