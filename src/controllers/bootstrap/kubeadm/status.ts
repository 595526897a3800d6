import { legacyFalse, legacyTrue, setLegacy, setVerdict, summarize, summarizeLegacy } from '../../shared/index.ts';
import type { Finding, KubeadmConfigScope } from './scope.ts';

const available: Finding = { verdict: { status: 'True', reason: 'Available' }, legacy: legacyTrue };

export function certificatesAvailable(scope: KubeadmConfigScope): void {
  scope.certificates = available;
}

/** A Secret with a certificate is missing or broken. */
export function certificatesMissing(scope: KubeadmConfigScope, message: string, waiting: boolean): void {
  scope.certificates = {
    verdict: { status: 'False', reason: 'NotAvailable', message },
    legacy: waiting
      ? legacyFalse('CertificatesGenerationFailed', 'Warning', message)
      : legacyFalse('CertificatesCorrupted', 'Error', message),
  };
}

export function dataSecretAvailable(scope: KubeadmConfigScope, name: string): void {
  const { config } = scope;
  config.status = {
    ...config.status,
    dataSecretName: name,
    initialization: { ...config.status?.initialization, dataSecretCreated: true },
  };
  scope.dataSecret = available;
}

/** Nothing is wrong; something else has to happen first. */
export function dataSecretWaiting(scope: KubeadmConfigScope, message: string, legacyReason: string): void {
  scope.dataSecret = {
    verdict: { status: 'False', reason: 'NotAvailable', message },
    legacy: legacyFalse(legacyReason, 'Info', message),
  };
}

/** User data could not be made of what the user wrote. */
export function dataSecretRefused(scope: KubeadmConfigScope, message: string): void {
  scope.dataSecret = {
    verdict: { status: 'False', reason: 'NotAvailable', message },
    legacy: legacyFalse('DataSecretGenerationFailed', 'Warning', message),
  };
}

/** Puts the findings of a pass on the draft. What nobody looked at keeps what it said before. */
export function observe(scope: KubeadmConfigScope): void {
  const { config, certificates, dataSecret } = scope;
  const now = scope.context.clock.now();
  if (certificates) {
    setVerdict(config, 'CertificatesAvailable', certificates.verdict, now);
    setLegacy(config, 'CertificatesAvailable', certificates.legacy, now);
  }
  if (dataSecret) {
    setVerdict(config, 'DataSecretAvailable', dataSecret.verdict, now);
    setLegacy(config, 'DataSecretAvailable', dataSecret.legacy, now);
  }
  const of = ['DataSecretAvailable', 'CertificatesAvailable'];
  const reasons = { issue: 'NotReady', unknown: 'ReadyUnknown', good: 'Ready' };
  setVerdict(config, 'Ready', summarize(config, { of, reasons }), now);
  const legacy = summarizeLegacy(config, { of });
  if (legacy) setLegacy(config, 'Ready', legacy, now);
}
