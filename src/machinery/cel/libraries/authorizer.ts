import { checkDns1123Label, checkDns1123Subdomain } from '../../validation/names.ts';
import { defineMethod } from '../library.ts';
import { CelError, type CelMap, type CelValue, Opaque } from '../values.ts';

/** Parameters of an authorization check in an expression. */
export interface AuthorizationQuestion {
  /** checks this service account instead of the user of the request */
  serviceAccount?: { namespace: string; name: string };
  path?: string;
  group?: string;
  resource?: string;
  subresource?: string;
  namespace?: string;
  name?: string;
  fieldSelector?: string;
  labelSelector?: string;
  verb: string;
}

/** Answers for the user of the request, unless a service account is given. */
export type AuthorizationCheck = (question: AuthorizationQuestion) => { allowed: boolean; reason: string };

/** The variable `authorizer`. Its `requestResource` is the resource of the request. */
export class CelAuthorizer extends Opaque implements CelMap {
  readonly typeName = 'kubernetes.Authorizer';
  readonly isMap = true;
  readonly size = 1;
  readonly check: AuthorizationCheck;
  readonly #requestResource: CelResourceCheck | undefined;

  constructor(check: AuthorizationCheck, requestResource?: Omit<AuthorizationQuestion, 'verb'>) {
    super();
    this.check = check;
    this.#requestResource = requestResource && new CelResourceCheck(check, requestResource);
  }

  get(key: CelValue): CelValue | undefined {
    return key === 'requestResource' ? this.#requestResource : undefined;
  }

  keys(): CelValue[] {
    return ['requestResource'];
  }

  equals(other: Opaque): boolean {
    return other === this;
  }
}

/** A check of a path, group or resource that lacks a verb. */
abstract class Check extends Opaque {
  readonly check: AuthorizationCheck;
  readonly about: Omit<AuthorizationQuestion, 'verb'>;

  constructor(check: AuthorizationCheck, about: Omit<AuthorizationQuestion, 'verb'>) {
    super();
    this.check = check;
    this.about = about;
  }

  equals(other: Opaque): boolean {
    return other === this;
  }
}

class CelPathCheck extends Check {
  readonly typeName = 'kubernetes.PathCheck';
}

class CelGroupCheck extends Check {
  readonly typeName = 'kubernetes.GroupCheck';
}

class CelResourceCheck extends Check {
  readonly typeName = 'kubernetes.ResourceCheck';

  with(more: Partial<AuthorizationQuestion>): CelResourceCheck {
    return new CelResourceCheck(this.check, { ...this.about, ...more });
  }
}

class CelDecision extends Opaque {
  readonly typeName = 'kubernetes.Decision';
  readonly allowed: boolean;
  readonly reason: string;

  constructor({ allowed, reason }: { allowed: boolean; reason: string }) {
    super();
    this.allowed = allowed;
    this.reason = reason;
  }

  equals(other: Opaque): boolean {
    return other instanceof CelDecision && other.allowed === this.allowed && other.reason === this.reason;
  }
}

function notEmpty(text: CelValue | undefined, what: string): string {
  const trimmed = (text as string).trim();
  if (trimmed === '') throw new CelError(`${what} must not be empty`);
  return trimmed;
}

/** A check may call an external authorizer. Upstream assumes the same cost. */
const checkCost = 350_000;

defineMethod('path(Authorizer, string): PathCheck', ([authorizer, path]) => {
  return new CelPathCheck((authorizer as CelAuthorizer).check, { path: notEmpty(path, 'path') });
});
defineMethod('group(Authorizer, string): GroupCheck', ([authorizer, group]) => {
  return new CelGroupCheck((authorizer as CelAuthorizer).check, { group: group as string });
});
defineMethod('serviceAccount(Authorizer, string, string): Authorizer', ([authorizer, space, account]) => {
  const [namespace, name] = [space as string, account as string];
  if (checkDns1123Subdomain(name).length > 0) throw new CelError('Invalid service account name');
  if (checkDns1123Label(namespace).length > 0) throw new CelError('Invalid service account namespace');
  const { check } = authorizer as CelAuthorizer;
  return new CelAuthorizer((question) => check({ ...question, serviceAccount: { namespace, name } }));
});
defineMethod('resource(GroupCheck, string): ResourceCheck', ([group, resource]) => {
  const { check, about } = group as CelGroupCheck;
  return new CelResourceCheck(check, { ...about, resource: notEmpty(resource, 'resource') });
});
for (const part of ['subresource', 'namespace', 'name', 'fieldSelector', 'labelSelector'] as const) {
  defineMethod(`${part}(ResourceCheck, string): ResourceCheck`, ([resource, value]) =>
    (resource as CelResourceCheck).with({ [part]: value as string }),
  );
}
for (const kind of ['PathCheck', 'ResourceCheck']) {
  defineMethod(`check(${kind}, string): Decision`, ([asked, verb], meter) => {
    meter.charge(checkCost);
    const { check, about } = asked as Check;
    return new CelDecision(check({ ...about, verb: verb as string }));
  });
}
defineMethod('allowed(Decision): bool', ([decision]) => (decision as CelDecision).allowed);
defineMethod('reason(Decision): string', ([decision]) => (decision as CelDecision).reason);
// Answers come from memory, so a check cannot fail.
defineMethod('errored(Decision): bool', () => false);
defineMethod('error(Decision): string', () => '');
