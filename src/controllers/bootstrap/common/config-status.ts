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

/** Result of one step, for v1beta2 and deprecated v1beta1 conditions. */
export interface Finding {
  verdict: Verdict;
  legacy: LegacyVerdict;
}

interface TwoStatusConfig extends BootstrapConfig {
  status?: BootstrapConfig['status'] & { deprecated?: { v1beta1?: { conditions?: DeprecatedCondition[] } } };
}

/** Scope of a configuration that needs cluster certificates. */
export interface CertifiedConfigScope extends ConfigScope<TwoStatusConfig, ConfigDependencies, Finding> {
  certificates?: Finding;
}

const available: Finding = { verdict: { status: 'True', reason: 'Available' }, legacy: legacyTrue };

export function certificatesAvailable(scope: CertifiedConfigScope): void {
  scope.certificates = available;
}

/** Reports a missing or broken certificate Secret. */
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

/** Reports that user data waits for a prerequisite, without a fault. */
export function dataSecretWaiting(scope: CertifiedConfigScope, message: string, legacyReason: string): void {
  scope.dataSecret = {
    verdict: { status: 'False', reason: 'NotAvailable', message },
    legacy: legacyFalse(legacyReason, 'Info', message),
  };
}

/** Reports input from which no user data can be made. */
export function dataSecretRefused(scope: CertifiedConfigScope, message: string): void {
  scope.dataSecret = {
    verdict: { status: 'False', reason: 'NotAvailable', message },
    legacy: legacyFalse('DataSecretGenerationFailed', 'Warning', message),
  };
}

/** Writes the findings to the draft. Conditions without a finding stay unchanged. */
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
