import { asJson, type JsonObject, type JsonValue } from '../../machinery/index.ts';
import { toApiUserInfo } from '../auth/index.ts';
import type { AdmissionRequest } from './types.ts';

/**
 * Describes a request without its objects, as `request` of an AdmissionReview, for webhooks and expressions. `version`
 * is the version that the reader requires.
 */
export function describeRequest(request: AdmissionRequest, version: string): JsonObject {
  const { target, operation, subresource } = request;
  const { group, kind, plural } = target.resource.definition;
  const kindIn = (name: string): JsonObject => ({ ...(request.bodyKind ?? { group, version: name, kind }) });
  const resourceIn = (name: string): JsonObject => ({ group, version: name, resource: plural });
  return {
    kind: kindIn(version),
    resource: resourceIn(version),
    ...(subresource !== undefined && { subResource: subresource, requestSubResource: subresource }),
    requestKind: kindIn(target.version.name),
    requestResource: resourceIn(target.version.name),
    name: target.name,
    ...(target.namespace !== undefined && { namespace: target.namespace }),
    operation,
    userInfo: asJson(toApiUserInfo(request.caller.user)),
    dryRun: request.dryRun,
    options: describeOptions(request),
  };
}

const optionKinds = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions', CONNECT: '' } as const;

/** Returns the options of the write as an object of their own kind. Patches have UpdateOptions. */
function describeOptions({ operation, options, dryRun }: AdmissionRequest): JsonObject {
  const rest: JsonObject = {};
  for (const [name, value] of Object.entries(options)) if (name !== 'dryRun') rest[name] = value as JsonValue;
  return {
    kind: optionKinds[operation],
    apiVersion: 'meta.k8s.io/v1',
    ...rest,
    ...(dryRun && { dryRun: ['All'] }),
  };
}
