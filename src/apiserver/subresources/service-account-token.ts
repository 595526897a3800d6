import { asJson, asTyped, statusError } from '../../machinery/index.ts';
import type { AccessControl, TokenRequest } from '../auth/index.ts';
import { getRecord } from '../service/reads.ts';
import { admitBody } from './admit-body.ts';
import type { SubresourceHandler } from './types.ts';

/** POST serviceaccounts/x/token */
export function serviceAccountTokenHandler(access: AccessControl): SubresourceHandler {
  return async (request) => {
    const { context, target, caller } = request;
    if (!access.tokenIssuer) throw statusError.pathNotFound();
    const account = await target.resource.fromRecord(await getRecord(context, target, caller, {}));
    const desired = await admitBody(request, 'token');
    const { response, warnings } = access.tokenIssuer.answerTokenRequest(
      asTyped<TokenRequest>(desired),
      account,
      access.lookup,
    );
    for (const warning of warnings) caller.warn(warning);
    const value = { ...response, kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1' };
    return { type: 'value', code: 201, value: asJson(value) };
  };
}
