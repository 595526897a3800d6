/** Ends a program with a message and an exit code. */
export class ProgramFailure extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.name = 'ProgramFailure';
    this.exitCode = exitCode;
  }
}
