import type { ApiUserInfo } from '../auth/user.ts';

export type AuditStage = 'RequestReceived' | 'ResponseStarted' | 'ResponseComplete' | 'Panic';

/** `Metadata` records user, time and target, but no bodies and therefore no secrets; `None` records nothing. */
export type AuditLevel = 'None' | 'Metadata';

export interface AuditObjectReference {
  resource?: string;
  namespace?: string;
  name?: string;
  uid?: string;
  apiGroup?: string;
  apiVersion?: string;
  resourceVersion?: string;
  subresource?: string;
}

export interface AuditResponseStatus {
  metadata: Record<string, never>;
  status?: 'Success' | 'Failure';
  message?: string;
  reason?: string;
  code: number;
}

/** An Event of audit.k8s.io/v1. */
export interface AuditEvent {
  kind: 'Event';
  apiVersion: 'audit.k8s.io/v1';
  level: AuditLevel;
  auditID: string;
  stage: AuditStage;
  requestURI: string;
  verb: string;
  user: ApiUserInfo;
  impersonatedUser?: ApiUserInfo;
  sourceIPs?: string[];
  userAgent?: string;
  objectRef?: AuditObjectReference;
  responseStatus?: AuditResponseStatus;
  /** RFC 3339 with microseconds */
  requestReceivedTimestamp: string;
  stageTimestamp: string;
  annotations?: Record<string, string>;
}

/** A destination of events. It never blocks a request. */
export interface AuditSink {
  record(event: AuditEvent): void;
  /** flushes the buffer and stops */
  close(): Promise<void>;
}
