/** Rules of the questions in teaching collections: which parts a user sees before answering, and which answers are correct. */
import type { Question, QuestionInResponse } from '@lamina/contract';

/** Returns the parts of a question that a user may see before answering: everything except the correct answer. */
export function withoutAnswer(question: Question): QuestionInResponse {
  return {
    kind: question.kind,
    text: question.text,
    ...(question.kind === 'choice' && { choices: question.choices }),
  };
}

/**
 * An answer. Its form depends on the kind of the question. `choice`: the indices of the chosen choices; `region`: a point
 * [x, y] in pixels of full resolution; `text`: free text.
 */
export type Answer = readonly number[] | string;

/**
 * Returns whether an answer is correct.
 *
 * @returns null for a free text, which the server cannot judge; undefined for an answer that is invalid for this question
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
  const isValid = answer.every(
    (index) => Number.isInteger(index) && index >= 0 && index < question.choices.length,
  );
  if (!isValid) return undefined;
  const chosen = new Set(answer);
  const isSameCount = chosen.size === new Set(question.correct).size; // several choices may be correct
  return isSameCount && question.correct.every((index) => chosen.has(index));
}

/** Whether a point is inside a polygon with holes, by the even-odd rule. @param rings coordinates of a GeoJSON polygon */
function isInside(rings: readonly (readonly (readonly number[])[])[], x: number, y: number): boolean {
  let isPointInside = false;
  for (const ring of rings) {
    for (const [index, [x1 = 0, y1 = 0]] of ring.entries()) {
      const [x2 = 0, y2 = 0] = ring[(index + 1) % ring.length] ?? [];
      const crossesHeight = y1 > y !== y2 > y; // the edge has one end above the point and one below
      if (crossesHeight && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) isPointInside = !isPointInside;
    }
  }
  return isPointInside;
}
