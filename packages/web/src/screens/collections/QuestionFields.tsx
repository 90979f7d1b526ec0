import { type CollectionItem, maxChoices, type Question } from '@lamina/contract';
import {
  Button,
  Checkbox,
  CloseButton,
  Group,
  SegmentedControl,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useState } from 'react';
import { Dialog } from '../../components/Dialog.tsx';
import type { SlideView } from '../../viewer/slide-view.ts';
import { AccountSlide } from '../../viewer/tour/AccountSlide.tsx';
import { SlideMarks } from '../../viewer/tour/SlideMarks.tsx';
import classes from './Collections.module.css';
import { type DraftQuestion, minChoices, minCorners } from './draft.ts';
import { texts } from './texts.ts';

interface QuestionFieldsProps {
  readonly question: DraftQuestion;
  /** Slide on which the owner draws the region; null when the account may not view the item. */
  readonly imageId: string | null;
  /** Part of the slide that the item shows; null for the whole slide. */
  readonly field: CollectionItem['field'];
  /** Null removes the question. */
  readonly onChange: (question: DraftQuestion | null) => void;
}

/** Fields for the question of an item of a collection: its kind, text, correct answer and explanation. */
export function QuestionFields({ question, imageId, field, onChange }: QuestionFieldsProps) {
  const [isDrawing, setDrawing] = useState(false);
  return (
    <fieldset className={classes.question}>
      <legend>{texts.question}</legend>
      <Stack gap="sm">
        <SegmentedControl
          aria-label={texts.questionKind}
          size="xs"
          className={classes.segments ?? ''}
          value={question.kind}
          onChange={(kind) => onChange({ ...question, kind: kind as Question['kind'] })}
          data={[
            { value: 'choice', label: texts.questionKinds.choice },
            { value: 'region', label: texts.questionKinds.region },
            { value: 'text', label: texts.questionKinds.text },
          ]}
        />
        <Textarea
          label={texts.questionText}
          autosize
          minRows={1}
          maxRows={6}
          maxLength={2000} // all lengths in this file are limits of the API
          value={question.text}
          onChange={({ currentTarget }) => onChange({ ...question, text: currentTarget.value })}
        />
        {question.kind === 'choice' && <Choices question={question} onChange={onChange} />}
        {question.kind === 'region' && (
          <Group>
            <Button size="xs" variant="default" disabled={imageId === null} onClick={() => setDrawing(true)}>
              {texts.drawRegion}
            </Button>
            <Text size="sm" c="dimmed">
              {question.region.length < minCorners ? texts.regionMissing : texts.regionDrawn}
            </Text>
          </Group>
        )}
        <Textarea
          label={texts.explanation}
          description={texts.explanationHint}
          autosize
          minRows={1}
          maxRows={6}
          maxLength={4000}
          value={question.explanation}
          onChange={({ currentTarget }) => onChange({ ...question, explanation: currentTarget.value })}
        />
        <Group justify="flex-end">
          <Button
            size="xs"
            variant="subtle"
            color="eosin"
            onClick={({ currentTarget }) => {
              currentTarget.closest('li')?.focus(); // the item, because the button disappears
              onChange(null);
            }}
          >
            {texts.removeQuestion}
          </Button>
        </Group>
      </Stack>
      {isDrawing && imageId !== null && (
        <RegionDialog
          imageId={imageId}
          field={field}
          region={question.region}
          onDone={(region) => {
            onChange({ ...question, region, holes: [] }); // the holes of the previous region do not fit the drawn one
            setDrawing(false);
          }}
          onClose={() => setDrawing(false)}
        />
      )}
    </fieldset>
  );
}

interface ChoicesProps {
  readonly question: DraftQuestion;
  readonly onChange: (question: DraftQuestion) => void;
}

/** The choices of a question, each with a checkbox that marks it as correct. */
function Choices({ question, onChange }: ChoicesProps) {
  const { choices, correct: correctIndexes } = question;

  function setCorrect(index: number, isCorrect: boolean) {
    const others = correctIndexes.filter((correctIndex) => correctIndex !== index);
    onChange({ ...question, correct: isCorrect ? [...others, index] : others });
  }

  /**
   * Removes a choice. The indexes of the choices after it decrease by one. The focus moves from the remove button, which disappears or
   * becomes disabled, to the next choice; after the removal of the last choice, to the previous one.
   *
   * @param row the element of the choice; React reuses it for the next choice, because the index is its key
   */
  function removeChoice(index: number, row: HTMLElement | null) {
    const rowToFocus = index < choices.length - 1 ? row : row?.previousElementSibling;
    if (rowToFocus instanceof HTMLElement) rowToFocus.focus();
    const correct = correctIndexes
      .filter((correctIndex) => correctIndex !== index)
      .map((correctIndex) => (correctIndex > index ? correctIndex - 1 : correctIndex));
    onChange({ ...question, choices: choices.toSpliced(index, 1), correct });
  }

  return (
    <div>
      <Text size="sm" mb="xs">
        {texts.choicesHint}
      </Text>
      <Stack gap="xs">
        {choices.map((choice, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a choice has no other identity than its position
          <Group key={index} gap="xs" wrap="nowrap" tabIndex={-1}>
            <Checkbox
              aria-label={texts.isCorrect(index + 1)}
              checked={correctIndexes.includes(index)}
              onChange={({ currentTarget }) => setCorrect(index, currentTarget.checked)}
            />
            <TextInput
              className={classes.grow ?? ''}
              aria-label={texts.choice(index + 1)}
              placeholder={texts.choice(index + 1)}
              maxLength={300}
              value={choice}
              onChange={({ currentTarget }) =>
                onChange({ ...question, choices: choices.with(index, currentTarget.value) })
              }
            />
            <CloseButton
              aria-label={texts.removeChoice(index + 1)}
              disabled={choices.length <= minChoices}
              onClick={({ currentTarget }) => removeChoice(index, currentTarget.parentElement)}
            />
          </Group>
        ))}
        <Group>
          <Button
            size="xs"
            variant="subtle"
            disabled={choices.length >= maxChoices}
            onClick={() => onChange({ ...question, choices: [...choices, ''] })}
          >
            {texts.addChoice}
          </Button>
        </Group>
      </Stack>
    </div>
  );
}

interface RegionDialogProps {
  readonly imageId: string;
  readonly field: CollectionItem['field'];
  readonly region: DraftQuestion['region'];
  readonly onDone: (region: DraftQuestion['region']) => void;
  readonly onClose: () => void;
}

/** Dialog that shows the slide of an item, on which the owner clicks the corners of the correct region. */
function RegionDialog({ imageId, field, region, onDone, onClose }: RegionDialogProps) {
  const [view, setView] = useState<SlideView | null>(null);
  const [corners, setCorners] = useState(region);
  /** Whether a click places a corner; otherwise the pointer moves the slide. */
  const [isPlacing, setPlacing] = useState(true);
  return (
    <Dialog title={texts.drawRegion} size="80rem" centered onClose={onClose}>
      <Stack>
        <Text size="sm">{texts.regionHint}</Text>
        <div className={classes.stage}>
          <AccountSlide imageId={imageId} field={field} onView={setView} />
          {view !== null && (
            <SlideMarks
              view={view}
              points={[]} // the region between the corners is shown instead of points
              area={corners}
              onMark={isPlacing ? (corner) => setCorners([...corners, corner]) : null}
              label={texts.regionHint}
            />
          )}
        </div>
        <Group justify="space-between">
          <Group gap="xs">
            <Button
              variant={isPlacing ? 'filled' : 'default'}
              aria-pressed={isPlacing}
              onClick={() => setPlacing(!isPlacing)}
            >
              {texts.placeCorners}
            </Button>
            <Button
              variant="default"
              disabled={corners.length === 0}
              onClick={() => setCorners(corners.slice(0, -1))}
            >
              {texts.undo}
            </Button>
          </Group>
          <Group gap="xs">
            <Button variant="default" onClick={onClose}>
              {texts.cancel}
            </Button>
            <Button disabled={corners.length < minCorners} onClick={() => onDone(corners)}>
              {texts.applyRegion}
            </Button>
          </Group>
        </Group>
      </Stack>
    </Dialog>
  );
}
