import type { Sandbox } from '../../support/sandbox.ts';

/** Registers a behaviour required of every target. The check gets its own sandbox. */
export type Expectation = (behaviour: string, check: (sandbox: Sandbox) => Promise<void>) => void;

/** A group of behaviours. */
export type Expectations = (expectation: Expectation) => void;
