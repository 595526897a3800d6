import type { CloudConfig, Credential, DomainReference, Reference, Scope } from '../config/cloud-config.ts';

/** Builds the body of `POST /v3/auth/tokens`. */
export function authRequest(config: Pick<CloudConfig, 'credential' | 'scope'>): object {
  const scope = scopeOf(config.scope);
  return { auth: { identity: identityOf(config.credential), ...(scope !== undefined && { scope }) } };
}

function identityOf(credential: Credential): object {
  switch (credential.method) {
    case 'password':
      return {
        methods: ['password'],
        password: { user: { ...reference(credential.user), password: credential.password } },
      };
    case 'token':
      return { methods: ['token'], token: { id: credential.token } };
    case 'applicationCredential':
      return {
        methods: ['application_credential'],
        application_credential:
          'id' in credential
            ? { id: credential.id, secret: credential.secret }
            : { name: credential.name, user: reference(credential.user), secret: credential.secret },
      };
  }
}

function scopeOf(scope: Scope): object | undefined {
  switch (scope.kind) {
    case 'project':
      return { project: reference(scope.project) };
    case 'domain':
      return { domain: domainReference(scope.domain) };
    case 'system':
      return { system: { all: true } };
    case 'trust':
      return { 'OS-TRUST:trust': { id: scope.trustId } };
    case 'none':
      // Keystone then uses the scope of the application credential, or the user's default project.
      return undefined;
  }
}

function reference(thing: Reference): object {
  return 'id' in thing ? { id: thing.id } : { name: thing.name, domain: domainReference(thing.domain) };
}

function domainReference(domain: DomainReference): object {
  return 'id' in domain ? { id: domain.id } : { name: domain.name };
}
