import { clone, isJsonObject, statusError } from '../../machinery/index.ts';
import { decodeObject } from '../service/decode.ts';
import { checkUpdatePreconditions } from '../service/metadata.ts';
import { getRecord } from '../service/reads.ts';
import { updateObject } from '../service/update.ts';
import type { SubresourceAnswer, SubresourceRequest } from './types.ts';

/** certificatesigningrequests/x/approval: changes only the conditions, and only approvers may call it. */
export async function handleCsrApproval(request: SubresourceRequest): Promise<SubresourceAnswer> {
  const { context, target, caller, settings, verb } = request;
  if (verb === 'get') {
    const record = await getRecord(context, target, caller, {});
    const object = await target.resource.fromRecord(record);
    return { type: 'written', code: 200, written: { object, json: record.value.json, created: false } };
  }
  if (!request.body) throw statusError.badRequest('the body must be a CertificateSigningRequest object');
  const desired = decodeObject(request.body, target, caller, settings.fieldValidation);
  const conditions = isJsonObject(desired.status) ? desired.status['conditions'] : undefined;
  const written = await updateObject({
    context,
    target,
    subresource: 'approval',
    caller,
    settings,
    next: (live) => {
      const { unconditional } = checkUpdatePreconditions(desired.metadata, live, target);
      const draft = clone(live);
      draft.status = {
        ...(isJsonObject(draft.status) ? draft.status : {}),
        ...(conditions !== undefined && { conditions }),
      };
      return { draft, conditional: !unconditional };
    },
  });
  return { type: 'written', code: 200, written };
}
