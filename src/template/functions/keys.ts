import { FunctionError } from '../errors.ts';
import { define, type Library } from './function.ts';

const hosts = '[]interface {}, []interface {}';

/** What makes keys, certificates and password hashes, with the types of the arguments. */
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
 * The functions that need key material. Charts name them in branches that are seldom taken, so that they must be known when
 * a template is read; one that is called is refused unless the caller passes a function of its own under this name.
 */
export const keyFunctions: Library = Object.fromEntries(
  Object.entries(keySignatures).map(([name, signature]) => [
    name,
    define(signature, () => {
      throw new FunctionError(`${name} is not available here: keys and certificates cannot be made by this template`);
    }),
  ]),
);
