import type { Sandbox } from '../../support/sandbox.ts';

/** Registers one behaviour that every target must show; the check gets a sandbox of its own on it. */
export type Expectation = (behaviour: string, check: (sandbox: Sandbox) => Promise<void>) => void;

/** A group of behaviours. */
export type Expectations = (expectation: Expectation) => void;
