import { type BootstrapToken, parseToken } from '../../shared/index.ts';
import { BootstrapInputError } from '../common/machine-content.ts';

export const defaultTokenTtlMs: number = 15 * 60_000;

/** Parses the token of a configuration; throws if the user's value is not a token. */
export function requireToken(text: string): BootstrapToken {
  const token = parseToken(text);
  if (!token) {
    throw new BootstrapInputError(
      'spec.joinConfiguration.discovery.bootstrapToken.token is not a token; remove it and one is made',
    );
  }
  return token;
}
