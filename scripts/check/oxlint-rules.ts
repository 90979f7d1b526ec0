/**
 * Lint rules of this project, a plugin for oxlint.
 *
 * `max-own-lines` limits functions to 60 lines, like `max-lines-per-function` of ESLint, but counts only the lines of a function
 * itself: no blank lines, comments, nested functions and JSX. Factories and React components consist mostly of such parts, which a reader
 * can understand one by one.
 */

/** The part of a syntax tree node or a comment that the rule uses: its first and last line, counted from 1. */
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

const maxLines = 60;

/** Returns the numbers of the lines of a node. */
function linesOf({ loc: { start, end } }: Node): number[] {
  return Array.from({ length: end.line - start.line + 1 }, (_, index) => start.line + index);
}

const maxOwnLines = {
  meta: { type: 'suggestion' },
  create({ sourceCode, report }: Context) {
    /** The counted line numbers of each function around the current node; the innermost function is last. */
    const openFunctions: Set<number>[] = [];
    /** Numbers of the lines that are neither blank nor comments. */
    let codeLines = new Set<number>();

    /** Removes the node's lines from those of the enclosing function. The first line stays: it can also contain code of that function. */
    const removeFromEnclosing = (node: Node) => {
      for (const line of linesOf(node).slice(1)) openFunctions.at(-1)?.delete(line);
    };
    const enterFunction = (node: Node) => {
      removeFromEnclosing(node);
      openFunctions.push(new Set(linesOf(node).filter((line) => codeLines.has(line))));
    };
    const leaveFunction = (node: Node) => {
      const lines = openFunctions.pop()?.size ?? 0;
      if (lines <= maxLines) return;
      const advice = 'Split it, or disable the rule for it with a reason.';
      report({
        node,
        message: `The function has ${lines} lines of its own; at most ${maxLines} are allowed. ${advice}`,
      });
    };

    return {
      Program() {
        const { lines } = sourceCode;
        codeLines = new Set(lines.flatMap((line, index) => (line.trim() === '' ? [] : [index + 1])));
        for (const comment of sourceCode.getAllComments()) {
          // A comment that disables the rule needs a reason: "oxlint-disable-next-line lamina/max-own-lines -- a list".
          if (/disable.*max-own-lines(?!.* -- \S)/.test(comment.value))
            report({ node: comment, message: 'Give the reason after " -- ".' });
          // A line counts as a comment when it begins with //, /*, *, or {/* (in JSX).
          for (const line of linesOf(comment)) {
            if (/^\s*(\/\/|\/?\*|\{\/\*)/.test(lines[line - 1] ?? '')) codeLines.delete(line);
          }
        }
      },
      FunctionDeclaration: enterFunction,
      FunctionExpression: enterFunction,
      ArrowFunctionExpression: enterFunction,
      JSXElement: removeFromEnclosing,
      JSXFragment: removeFromEnclosing,
      'FunctionDeclaration:exit': leaveFunction,
      'FunctionExpression:exit': leaveFunction,
      'ArrowFunctionExpression:exit': leaveFunction,
    };
  },
};

// oxlint loads the default export.
export default { meta: { name: 'lamina' }, rules: { 'max-own-lines': maxOwnLines } };
