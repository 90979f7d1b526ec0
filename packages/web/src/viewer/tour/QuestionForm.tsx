import type { QuestionInResponse } from '@lamina/contract';
import { Alert, Button, Checkbox, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import type { AnswerResult } from '../../api/collections.ts';
import type { Point } from '../overlay/placement.ts';
import { texts } from './texts.ts';

/** The user's answer to one question of a tour. The tour keeps it while it shows other steps. */
export interface AnswerDraft {
  /** Indexes of the selected choices, in ascending order. */
  readonly chosen: readonly number[];
  readonly text: string;
  /** The marked point in image pixels; null before the user marks one. */
  readonly point: Point | null;
  /** The server's reply to the answer; null before the user has sent the answer. */
  readonly result: AnswerResult | null;
}

/** Longest text answer that the server accepts, in characters. */
const maxAnswerLength = 4000;

export const emptyDraft: AnswerDraft = { chosen: [], text: '', point: null, result: null };

interface QuestionFormProps {
  readonly question: QuestionInResponse;
  readonly draft: AnswerDraft;
  readonly onDraft: (draft: AnswerDraft) => void;
  /** Whether the next click on the slide marks the point of the answer. */
  readonly isMarking: boolean;
  readonly onMarkingChange: (isMarking: boolean) => void;
  /** Sends the answer. @returns the server's reply, or an error message to show */
  readonly onSend: (answer: number[] | string) => Promise<AnswerResult | { readonly error: string }>;
}

/** Shows a question of a tour with the fields for its answer, and the result after the user has sent the answer. */
export function QuestionForm({
  question,
  draft,
  onDraft,
  isMarking,
  onMarkingChange,
  onSend,
}: QuestionFormProps) {
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<string | null>(null); // error message

  async function send() {
    const answer = answerOf(question, draft);
    if (answer === null) return setError(texts.chooseFirst);
    setSending(true);
    const reply = await onSend(answer);
    setSending(false);
    if ('error' in reply) return setError(reply.error);
    setError(null);
    onDraft({ ...draft, result: reply });
  }

  const { result } = draft;
  return (
    <form
      aria-label={texts.question}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <Stack gap="sm">
        <Text fw={600} style={{ whiteSpace: 'pre-wrap' }}>
          {question.text}
        </Text>
        <AnswerFields
          question={question}
          draft={draft}
          onDraft={onDraft}
          isMarking={isMarking}
          onMarkingChange={onMarkingChange}
        />
        {error !== null && <Alert color="red">{error}</Alert>}
        {result === null ? (
          <Button type="submit" loading={isSending}>
            {texts.send}
          </Button>
        ) : (
          <>
            <Alert role="status" color={colourOf(result.correct)} title={resultTitleOf(result.correct)}>
              {result.explanation !== undefined && (
                <Text size="sm" style={{ whiteSpace: 'pre-wrap' }}>
                  {result.explanation}
                </Text>
              )}
            </Alert>
            <Button variant="default" onClick={() => onDraft({ ...draft, result: null })}>
              {texts.answerAgain}
            </Button>
          </>
        )}
      </Stack>
    </form>
  );
}

type AnswerFieldsProps = Omit<QuestionFormProps, 'onSend'>;

/** The fields for the answer, depending on the kind of the question: choices, a text, or a place on the slide. */
function AnswerFields({ question, draft, onDraft, isMarking, onMarkingChange }: AnswerFieldsProps) {
  const isSent = draft.result !== null;
  if (question.kind === 'choice') {
    return (
      <Checkbox.Group
        description={texts.chooseAll}
        value={draft.chosen.map(String)}
        onChange={(chosen) => onDraft({ ...draft, chosen: chosen.map(Number).sort((a, b) => a - b) })}
      >
        <Stack gap="xs" mt="xs">
          {(question.choices ?? []).map((choice, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the position identifies a choice
            <Checkbox key={index} value={String(index)} label={choice} disabled={isSent} />
          ))}
        </Stack>
      </Checkbox.Group>
    );
  }
  if (question.kind === 'text') {
    return (
      <Textarea
        label={texts.yourAnswer}
        autosize
        minRows={2}
        maxRows={8}
        maxLength={maxAnswerLength}
        disabled={isSent}
        value={draft.text}
        onChange={({ currentTarget }) => onDraft({ ...draft, text: currentTarget.value })}
      />
    );
  }
  // The kind is `region`: the question asks for a place on the slide.
  if (isSent) return null;
  const markedText = draft.point === null ? '' : texts.marked;
  return (
    <div>
      <Button
        variant={isMarking ? 'filled' : 'default'}
        aria-pressed={isMarking}
        onClick={() => onMarkingChange(!isMarking)}
      >
        {draft.point === null ? texts.markPlace : texts.markAgain}
      </Button>
      <Text size="sm" c="dimmed" mt={4} role="status">
        {isMarking ? texts.markHint : markedText}
      </Text>
    </div>
  );
}

/** Returns the answer as the API expects it (indexes of choices, a text, or a point as [x, y]); null while it is incomplete. */
function answerOf(
  { kind }: QuestionInResponse,
  { chosen, text, point }: AnswerDraft,
): number[] | string | null {
  if (kind === 'choice') return chosen.length === 0 ? null : [...chosen];
  if (kind === 'text') return text.trim() === '' ? null : text.trim();
  return point === null ? null : [point.x, point.y];
}

/** Returns a theme colour (`haematoxylin`: blue). @param correct null when the server has not judged the answer */
function colourOf(correct: boolean | null): string {
  if (correct === null) return 'haematoxylin';
  return correct ? 'green' : 'red';
}

/** Returns the title of the result. @param correct null when the server has not judged the answer */
function resultTitleOf(correct: boolean | null): string {
  if (correct === null) return texts.received;
  return correct ? texts.right : texts.wrong;
}
