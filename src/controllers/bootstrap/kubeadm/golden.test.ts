import { describeGolden } from '../testing/golden.ts';
import { goldenCases } from './testing/golden-cases.ts';

// test/conformance/bootstrap checks the same files with real cloud-init, kubeadm and ignition-validate.
describeGolden(goldenCases, new URL('./testdata/', import.meta.url));
