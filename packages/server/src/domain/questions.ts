/** The rules of questions: what is shown before the answer, and when an answer is correct. */
import type { Question, ShownQuestion } from '@lamina/contract';

/** Returns the question without what would give its answer away. */
export function withoutAnswer(question: Question): ShownQuestion {
  return {
    kind: question.kind,
    text: question.text,
    ...(question.kind === 'choice' && { choices: question.choices }),
  };
}

export type Answer = readonly number[] | string;

/**
 * Judges an answer. Null for a text, which no rule judges.
 *
 * @returns undefined when the answer is not of the question's kind
 */
export function isCorrect(question: Question, answer: Answer): boolean | null | undefined {
  if (question.kind === 'text') return typeof answer === 'string' ? null : undefined;
  if (typeof answer === 'string') return undefined;
  if (question.kind === 'region') {
    const [x, y] = answer;
    return x === undefined || y === undefined || answer.length !== 2
      ? undefined
      : isInside(question.region.coordinates, x, y);
  }
  const chosen = new Set(answer);
  const isValid = answer.every(
    (index) => Number.isInteger(index) && index >= 0 && index < question.choices.length,
  );
  if (!isValid) return undefined;
  return (
    chosen.size === new Set(question.correct).size && question.correct.every((index) => chosen.has(index))
  );
}

/** Whether a point is inside the rings by the even-odd rule, as GeoJSON polygons with holes have it. */
function isInside(rings: readonly (readonly (readonly number[])[])[], x: number, y: number): boolean {
  let inside = false;
  for (const ring of rings) {
    for (const [index, [x1 = 0, y1 = 0]] of ring.entries()) {
      const [x2 = 0, y2 = 0] = ring[(index + 1) % ring.length] ?? [];
      if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) inside = !inside;
    }
  }
  return inside;
}
