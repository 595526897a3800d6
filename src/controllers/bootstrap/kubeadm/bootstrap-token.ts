import { type BootstrapToken, parseToken } from '../../shared/index.ts';
import { BootstrapInputError } from '../common/machine-content.ts';

export const defaultTokenTtlMs: number = 15 * 60_000;

/** The token of a configuration; a user may have put anything there. */
export function requireToken(text: string): BootstrapToken {
  const token = parseToken(text);
  if (!token) {
    throw new BootstrapInputError(
      'spec.joinConfiguration.discovery.bootstrapToken.token is not a token; remove it and one is made',
    );
  }
  return token;
}
