import { readFile } from 'node:fs/promises';
import { type Clock, errorMessage } from '../../machinery/index.ts';
import { kubeconfigError } from './errors.ts';
import type { Credential, CredentialSource } from './types.ts';

export function staticCredentials(credential: Credential): CredentialSource {
  return { get: () => Promise.resolve(credential), refresh: () => false };
}

/** Time after which a token file is read again, because service account tokens rotate; the same as in client-go. */
const tokenFilePeriodMs = 60_000;

/** Reads a bearer token from a file, again every minute and after each 401. */
export function tokenFileCredentials(path: string, clock: Clock, rest: Credential = {}): CredentialSource {
  let cached: { token: string; readAt: number } | undefined;
  return {
    async get() {
      if (cached && clock.now() - cached.readAt < tokenFilePeriodMs) return { ...rest, token: cached.token };
      try {
        const token = (await readFile(path, 'utf8')).trim();
        if (token === '') throw new Error('the file is empty');
        cached = { token, readAt: clock.now() };
      } catch (error) {
        // A token file may be missing briefly during rotation, so the old token is used.
        if (!cached) {
          throw kubeconfigError(
            'CAP_KUBECONFIG_ENTRY',
            `cannot read the token file ${path}: ${errorMessage(error)}`,
            'check the path and permissions of tokenFile',
            error,
          );
        }
      }
      return { ...rest, token: cached.token };
    },
    refresh() {
      if (!cached) return false;
      cached = { token: cached.token, readAt: Number.NEGATIVE_INFINITY };
      return true;
    },
  };
}
