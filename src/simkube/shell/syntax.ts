/** A part of a word before expansion. */
export type Piece =
  | { readonly kind: 'text'; readonly text: string; readonly isQuoted: boolean }
  | {
      readonly kind: 'variable';
      readonly name: string;
      readonly isQuoted: boolean;
      /** `:-`, `-`, `:=`, `:+`, `:?`, `#`, `##`, `%`, `%%`, `/`, `//`, `length` */
      readonly operator?: string;
      readonly operand?: Word;
      readonly replacement?: Word;
    }
  | { readonly kind: 'command'; readonly script: Script; readonly isQuoted: boolean }
  | { readonly kind: 'arithmetic'; readonly expression: Word; readonly isQuoted: boolean };

export type Word = readonly Piece[];

export interface Redirect {
  readonly from: number;
  /** `>`, `>>`, `<`, `<<` (here-document), `<<<`, `>&` */
  readonly kind: string;
  readonly target: Word;
}

export interface SimpleCommand {
  readonly kind: 'simple';
  readonly assignments: readonly { readonly name: string; readonly value: Word; readonly isAppended: boolean }[];
  readonly words: readonly Word[];
  readonly redirects: readonly Redirect[];
  readonly line: number;
}

export type Command =
  | SimpleCommand
  | {
      readonly kind: 'if';
      readonly branches: readonly { readonly test: Script; readonly body: Script }[];
      readonly otherwise: Script | undefined;
      readonly redirects: readonly Redirect[];
    }
  | {
      readonly kind: 'loop';
      readonly test: Script;
      readonly isUntil: boolean;
      readonly body: Script;
      readonly redirects: readonly Redirect[];
    }
  | {
      readonly kind: 'for';
      readonly name: string;
      /** absent: the positional arguments */
      readonly words: readonly Word[] | undefined;
      readonly body: Script;
      readonly redirects: readonly Redirect[];
    }
  | {
      readonly kind: 'case';
      readonly word: Word;
      readonly branches: readonly { readonly patterns: readonly Word[]; readonly body: Script }[];
      readonly redirects: readonly Redirect[];
    }
  | {
      readonly kind: 'group';
      readonly body: Script;
      readonly isSubshell: boolean;
      readonly redirects: readonly Redirect[];
    }
  | { readonly kind: 'function'; readonly name: string; readonly body: Command };

export interface Pipeline {
  readonly commands: readonly Command[];
  readonly isNegated: boolean;
}

export interface Statement {
  readonly first: Pipeline;
  readonly rest: readonly { readonly operator: '&&' | '||'; readonly pipeline: Pipeline }[];
  readonly isBackground: boolean;
}

export type Script = readonly Statement[];

/** A script with a syntax error. */
export class ShellSyntaxError extends Error {
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.name = 'ShellSyntaxError';
    this.line = line;
  }
}
