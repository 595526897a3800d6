import {
  asJson,
  asUnstructured,
  isJsonObject,
  type JsonObject,
  type JsonPatchOperation,
  type JsonValue,
  jsonText,
  type Status,
  type UnstructuredObject,
} from '../machinery/index.ts';
import { BadReviewError, requiredObject, requiredText, reviewOf } from './review.ts';

export const admissionApiVersion = 'admission.k8s.io/v1';

/** The used part of an admission request. */
export interface AdmissionRequest {
  uid: string;
  operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  resource: { group: string; version: string; resource: string };
  /** empty for the main resource */
  subResource: string;
  /** version the client wrote; may differ from the version of the object here */
  requestVersion: string;
  name: string;
  namespace: string;
  user: { name: string; uid: string; groups: readonly string[] };
  dryRun: boolean;
  /** field manager of a patch; undefined for other writes */
  patchedBy: string | undefined;
  object: UnstructuredObject | undefined;
  oldObject: UnstructuredObject | undefined;
}

export type AdmissionAnswer =
  | { allowed: true; patch?: readonly JsonPatchOperation[]; warnings?: readonly string[] }
  | { allowed: false; status: Status; warnings?: readonly string[] };

const operations = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const;

export function parseAdmissionReview(body: unknown): AdmissionRequest {
  const request = reviewOf(body, 'AdmissionReview', admissionApiVersion);
  const operation = operations.find((known) => known === request['operation']);
  if (operation === undefined) throw new BadReviewError('request.operation is not one of those there are');
  const resource = requiredObject(request, 'resource');
  const requestKind = isJsonObject(request['requestKind']) ? request['requestKind'] : requiredObject(request, 'kind');
  const user = isJsonObject(request['userInfo']) ? request['userInfo'] : {};
  const groups = Array.isArray(user['groups']) ? user['groups'] : [];
  return {
    uid: requiredText(request, 'uid'),
    operation,
    resource: {
      group: text(resource, 'group'),
      version: text(resource, 'version'),
      resource: text(resource, 'resource'),
    },
    subResource: text(request, 'subResource'),
    requestVersion: text(requestKind, 'version'),
    name: text(request, 'name'),
    namespace: text(request, 'namespace'),
    user: {
      name: text(user, 'username'),
      uid: text(user, 'uid'),
      groups: groups.filter((group) => typeof group === 'string'),
    },
    dryRun: request['dryRun'] === true,
    patchedBy: patchManagerOf(request['options']),
    object: objectAt(request, 'object'),
    oldObject: objectAt(request, 'oldObject'),
  };
}

export function admissionReviewOf({ uid }: Pick<AdmissionRequest, 'uid'>, answer: AdmissionAnswer): JsonObject {
  const response: JsonObject = { uid, allowed: answer.allowed };
  if (answer.warnings && answer.warnings.length > 0) response['warnings'] = [...answer.warnings];
  if (!answer.allowed) response['status'] = asJson(answer.status);
  else if (answer.patch && answer.patch.length > 0) {
    response['patchType'] = 'JSONPatch';
    response['patch'] = Buffer.from(jsonText(answer.patch)).toString('base64');
  }
  return { apiVersion: admissionApiVersion, kind: 'AdmissionReview', response };
}

/**
 * Returns the field manager of the write. API servers send UpdateOptions for patches, so only the name identifies a
 * patch.
 */
function patchManagerOf(options: JsonValue | undefined): string | undefined {
  if (!isJsonObject(options)) return undefined;
  const isUpdate = options['kind'] === 'PatchOptions' || options['kind'] === 'UpdateOptions';
  return isUpdate ? text(options, 'fieldManager') : undefined;
}

function text(object: JsonObject, key: string): string {
  const value = object[key];
  return typeof value === 'string' ? value : '';
}

function objectAt(request: JsonObject, key: string): UnstructuredObject | undefined {
  const value = request[key];
  if (value === undefined || value === null) return undefined;
  if (!isJsonObject(value)) throw new BadReviewError(`request.${key} is no object`);
  requiredText(value, 'apiVersion', `request.${key}`);
  requiredText(value, 'kind', `request.${key}`);
  requiredObject(value, 'metadata', `request.${key}`);
  return asUnstructured(value);
}
