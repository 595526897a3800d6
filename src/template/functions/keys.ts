import { FunctionError } from '../errors.ts';
import { define, type Library } from './function.ts';

const hosts = '[]interface {}, []interface {}';

/** Functions of keys, certificates and password hashes, with their signatures. */
export const keySignatures: Readonly<Record<string, string>> = {
  bcrypt: 'string',
  htpasswd: 'string, string',
  derivePassword: 'uint32, string, string, string, string',
  genPrivateKey: 'string',
  buildCustomCert: 'string, string',
  genCA: 'string, int',
  genCAWithKey: 'string, int, string',
  genSelfSignedCert: `string, ${hosts}, int`,
  genSelfSignedCertWithKey: `string, ${hosts}, int, string`,
  genSignedCert: `string, ${hosts}, int, sprig.certificate`,
  genSignedCertWithKey: `string, ${hosts}, int, sprig.certificate, string`,
  encryptAES: 'string, string',
  decryptAES: 'string, string',
};

/**
 * Placeholders for functions that need key material. Charts refer to them in rarely used branches, so they must exist
 * when a template is parsed. A call fails unless the caller provides a function with this name.
 */
export const keyFunctions: Library = Object.fromEntries(
  Object.entries(keySignatures).map(([name, signature]) => [
    name,
    define(signature, () => {
      throw new FunctionError(`${name} is not available here: keys and certificates cannot be made by this template`);
    }),
  ]),
);
