import { readFile } from 'node:fs/promises';
import { type Clock, errorMessage } from '../../machinery/index.ts';
import { kubeconfigError } from './errors.ts';
import type { Credential, CredentialSource } from './types.ts';

/** Credentials that never change. */
export function staticCredentials(credential: Credential): CredentialSource {
  return { get: () => Promise.resolve(credential), refresh: () => false };
}

/** How long a token read from a file is trusted; service-account tokens are rotated on disk. client-go uses a minute. */
const tokenFilePeriodMs = 60_000;

/** A bearer token kept in a file by somebody else: read again every minute, and at once after a 401. */
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
        // a token being replaced may be missing for a moment: the old one is the better guess
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
