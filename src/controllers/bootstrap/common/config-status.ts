import type { DeprecatedCondition } from '../../../api/index.ts';
import {
  type LegacyVerdict,
  legacyFalse,
  legacyTrue,
  setLegacy,
  setVerdict,
  summarize,
  summarizeLegacy,
  type Verdict,
} from '../../shared/index.ts';
import type { BootstrapConfig, ConfigDependencies, ConfigScope } from './config-scope.ts';

/** What a step found out, for both generations of conditions. */
export interface Finding {
  verdict: Verdict;
  legacy: LegacyVerdict;
}

/** A configuration whose status old clients read as well. */
interface TwoStatusConfig extends BootstrapConfig {
  status?: BootstrapConfig['status'] & { deprecated?: { v1beta1?: { conditions?: DeprecatedCondition[] } } };
}

/** A pass over a configuration that needs certificates of the cluster. */
export interface CertifiedConfigScope extends ConfigScope<TwoStatusConfig, ConfigDependencies, Finding> {
  certificates?: Finding;
}

const available: Finding = { verdict: { status: 'True', reason: 'Available' }, legacy: legacyTrue };

export function certificatesAvailable(scope: CertifiedConfigScope): void {
  scope.certificates = available;
}

/** A Secret with a certificate is missing or broken. */
export function certificatesMissing(scope: CertifiedConfigScope, message: string, waiting: boolean): void {
  scope.certificates = {
    verdict: { status: 'False', reason: 'NotAvailable', message },
    legacy: waiting
      ? legacyFalse('CertificatesGenerationFailed', 'Warning', message)
      : legacyFalse('CertificatesCorrupted', 'Error', message),
  };
}

export function dataSecretAvailable(scope: CertifiedConfigScope, name: string): void {
  const { config } = scope;
  config.status = {
    ...config.status,
    dataSecretName: name,
    initialization: { ...config.status?.initialization, dataSecretCreated: true },
  };
  scope.dataSecret = available;
}

/** Nothing is wrong; something else has to happen first. */
export function dataSecretWaiting(scope: CertifiedConfigScope, message: string, legacyReason: string): void {
  scope.dataSecret = {
    verdict: { status: 'False', reason: 'NotAvailable', message },
    legacy: legacyFalse(legacyReason, 'Info', message),
  };
}

/** User data could not be made of what the user wrote. */
export function dataSecretRefused(scope: CertifiedConfigScope, message: string): void {
  scope.dataSecret = {
    verdict: { status: 'False', reason: 'NotAvailable', message },
    legacy: legacyFalse('DataSecretGenerationFailed', 'Warning', message),
  };
}

/** Puts the findings of a pass on the draft. What nobody looked at keeps what it said before. */
export function observe(scope: CertifiedConfigScope): void {
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
