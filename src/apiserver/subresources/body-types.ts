import { checkTypes, decodeErrorText, type Schema, statusError } from '../../machinery/index.ts';

const components: ReadonlyMap<string, string> = new Map([
  ['Binding', 'io.k8s.api.core.v1.Binding'],
  ['Eviction', 'io.k8s.api.policy.v1.Eviction'],
  ['Scale', 'io.k8s.api.autoscaling.v1.Scale'],
  ['TokenRequest', 'io.k8s.api.authentication.v1.TokenRequest'],
]);

/** Checks the types of a subresource body, so that handlers can rely on them. */
export function checkSubresourceBody(value: unknown, kind: string, schemaOf: (component: string) => Schema): void {
  const component = components.get(kind);
  const mismatch = component === undefined ? undefined : checkTypes(value, schemaOf(component));
  if (!mismatch) return;
  throw statusError.badRequest(`${kind} in version "v1" cannot be handled as a ${kind}: ${decodeErrorText(mismatch)}`);
}
