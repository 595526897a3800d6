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
  /** how much to record of a request; default is Metadata for all */
  levelOf?(attributes: AuthorizationAttributes): AuditLevel;
  /** stages that are not worth a line */
  omitStages?: readonly AuditStage[];
}

/** What is known of a request before it is served. */
export interface AuditedRequest {
  /** sent by the client (Audit-ID header) or made up; answered in the Audit-Id header */
  auditId: string;
  uri: string;
  /** the user and what is asked; for impersonation, the user acted as */
  attributes: AuthorizationAttributes;
  /** who really asks, when they act as somebody else */
  impersonator?: UserInfo;
  /** forwarded addresses first, the connection's own last */
  sourceIps?: readonly string[];
  userAgent?: string;
}

export interface AuditResponse {
  code: number;
  /** of a failure */
  reason?: string;
  message?: string;
  /** of an object that was created or read */
  uid?: string;
  resourceVersion?: string;
}

/** Follows one request. Each call writes one event. */
export interface AuditTrail {
  /** decision of the authorizer, remembered as annotations */
  authorized(decision: AuthorizationDecision): void;
  annotate(key: string, value: string): void;
  /** headers of a long-running response (watch, logs) are out */
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

/** Turns requests into audit events, at most one per stage. */
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
