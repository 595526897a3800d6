import { must } from '../../machinery/index.ts';
import { quoteGo } from './quote.ts';

/** Origin of a node: the text and the offset in it. */
export interface Source {
  /** name of the file in error messages */
  readonly name: string;
  readonly text: string;
}

interface Place {
  readonly at: number;
  readonly source: Source;
}

export type NumberNode = Place & {
  readonly kind: 'number';
  readonly text: string;
  readonly int: bigint | undefined;
  readonly uint: bigint | undefined;
  readonly float: number | undefined;
};
export type VariableNode = Place & { readonly kind: 'variable'; readonly path: readonly [string, ...string[]] };
export type FieldNode = Place & { readonly kind: 'field'; readonly path: readonly string[] };
export type ChainNode = Place & { readonly kind: 'chain'; readonly node: Operand; readonly path: readonly string[] };
export type IdentifierNode = Place & { readonly kind: 'identifier'; readonly name: string };
export type PipeNode = Place & {
  readonly kind: 'pipe';
  readonly isAssignment: boolean;
  readonly variables: readonly VariableNode[];
  readonly commands: readonly CommandNode[];
};
export type CommandNode = Place & { readonly kind: 'command'; readonly args: readonly [Operand, ...Operand[]] };

export type Operand =
  | NumberNode
  | VariableNode
  | FieldNode
  | ChainNode
  | IdentifierNode
  | PipeNode
  | (Place & { readonly kind: 'bool'; readonly value: boolean })
  | (Place & { readonly kind: 'string'; readonly quoted: string; readonly value: string })
  | (Place & { readonly kind: 'dot' })
  | (Place & { readonly kind: 'nil' });

export type BranchNode = Place & {
  readonly kind: 'if' | 'with' | 'range';
  readonly pipe: PipeNode;
  readonly body: ListNode;
  readonly otherwise: ListNode | undefined;
};
export type TemplateNode = Place & {
  readonly kind: 'template';
  readonly name: string;
  readonly pipe: PipeNode | undefined;
};
export type ListNode = Place & { readonly kind: 'list'; readonly nodes: readonly Statement[] };
export type Statement =
  | (Place & { readonly kind: 'text'; readonly text: string })
  | (Place & { readonly kind: 'action'; readonly pipe: PipeNode })
  | (Place & { readonly kind: 'break' | 'continue' })
  | BranchNode
  | TemplateNode;

export type Node = Statement | Operand | CommandNode | ListNode;

/** Formats a node's source like Go's errors. */
export function nodeText(node: Node): string {
  switch (node.kind) {
    case 'number':
      return node.text;
    case 'variable':
      return node.path.join('.');
    case 'field':
      return node.path.map((name) => `.${name}`).join('');
    case 'chain': {
      const inner = nodeText(node.node);
      return `${node.node.kind === 'pipe' ? `(${inner})` : inner}${node.path.map((name) => `.${name}`).join('')}`;
    }
    case 'identifier':
      return node.name;
    case 'bool':
      return String(node.value);
    case 'string':
      return node.quoted;
    case 'dot':
      return '.';
    case 'nil':
      return 'nil';
    case 'pipe': {
      const names = node.variables.map(nodeText).join(', ');
      const declared = names === '' ? '' : `${names} ${node.isAssignment ? '=' : ':='} `;
      return declared + node.commands.map(nodeText).join(' | ');
    }
    case 'command':
      return node.args.map((arg) => (arg.kind === 'pipe' ? `(${nodeText(arg)})` : nodeText(arg))).join(' ');
    case 'text':
      return node.text;
    case 'action':
      return `{{${nodeText(node.pipe)}}}`;
    case 'break':
    case 'continue':
      return `{{${node.kind}}}`;
    case 'template':
      return `{{template ${quoteGo(node.name)}${node.pipe ? ` ${nodeText(node.pipe)}` : ''}}}`;
    case 'list':
      return node.nodes.map(nodeText).join('');
    default: {
      const otherwise = node.otherwise ? `{{else}}${nodeText(node.otherwise)}` : '';
      return `{{${node.kind} ${nodeText(node.pipe)}}}${nodeText(node.body)}${otherwise}{{end}}`;
    }
  }
}

/** Returns `file:line:column`. The column counts bytes from 0, as in Go. */
export function nodePlace({ source, at }: Place): string {
  const before = source.text.slice(0, at);
  const lines = before.split('\n');
  return `${source.name}:${lines.length}:${Buffer.byteLength(must(lines.at(-1), 'the last of lines'))}`;
}
