/**
 * Rules of this project for oxlint.
 *
 * `max-own-lines` is `max-lines-per-function` for code that is written as factories and React components: it counts the
 * lines of a function without blank lines, comments, nested functions and JSX, because these are read by themselves.
 */

/** A node of the syntax tree or a comment, as far as the rule reads it. */
interface Node {
  readonly loc: { readonly start: { readonly line: number }; readonly end: { readonly line: number } };
}

interface Context {
  readonly sourceCode: {
    readonly lines: readonly string[];
    getAllComments(): readonly (Node & { readonly value: string })[];
  };
  report(problem: { node: Node; message: string }): void;
}

const max = 60;

function linesOf({ loc: { start, end } }: Node): number[] {
  return Array.from({ length: end.line - start.line + 1 }, (_, index) => start.line + index);
}

const maxOwnLines = {
  meta: { type: 'suggestion' },
  create({ sourceCode, report }: Context) {
    /** Line numbers of the functions around the current node; the innermost function is last. */
    const open: Set<number>[] = [];
    /** Numbers of the lines that are neither blank nor comments. */
    let code = new Set<number>();

    /** Removes all lines of the node but the first from the enclosing function. */
    const removeFromEnclosing = (node: Node) => {
      for (const line of linesOf(node).slice(1)) open.at(-1)?.delete(line);
    };
    const enter = (node: Node) => {
      removeFromEnclosing(node);
      open.push(new Set(linesOf(node).filter((line) => code.has(line))));
    };
    const leave = (node: Node) => {
      const lines = open.pop()?.size ?? 0;
      if (lines <= max) return;
      const advice = 'Split it, or disable the rule for it with a reason.';
      report({
        node,
        message: `The function has ${lines} lines of its own; at most ${max} are allowed. ${advice}`,
      });
    };

    return {
      Program() {
        const { lines } = sourceCode;
        code = new Set(lines.flatMap((line, index) => (line.trim() === '' ? [] : [index + 1])));
        for (const comment of sourceCode.getAllComments()) {
          if (/disable.*max-own-lines(?!.* -- \S)/.test(comment.value))
            report({ node: comment, message: 'Give the reason behind " -- ".' });
          for (const line of linesOf(comment)) {
            if (/^\s*(\/\/|\/?\*|\{\/\*)/.test(lines[line - 1] ?? '')) code.delete(line);
          }
        }
      },
      FunctionDeclaration: enter,
      FunctionExpression: enter,
      ArrowFunctionExpression: enter,
      JSXElement: removeFromEnclosing,
      JSXFragment: removeFromEnclosing,
      'FunctionDeclaration:exit': leave,
      'FunctionExpression:exit': leave,
      'ArrowFunctionExpression:exit': leave,
    };
  },
};

// oxlint loads the default export.
export default { meta: { name: 'lamina' }, rules: { 'max-own-lines': maxOwnLines } };
