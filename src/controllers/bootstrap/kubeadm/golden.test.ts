import { describeGolden } from '../testing/golden.ts';
import { goldenCases } from './testing/golden-cases.ts';

// Real cloud-init, kubeadm and ignition-validate judge the same files in test/conformance/bootstrap.
describeGolden(goldenCases, new URL('./testdata/', import.meta.url));
