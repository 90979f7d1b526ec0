import { type Collection, type CollectionAnswer, maxChoices } from '@lamina/contract';
import { Anchor, Button, Group, Table, Text, Title } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useState } from 'react';
import { Link, useParams } from 'react-router';
import { messageOf } from '../../api/client.ts';
import { downloadAnswers, useAnswers, useCollection } from '../../api/collections.ts';
import { saveFile } from '../../browser/save-file.ts';
import { EmptyState } from '../../components/EmptyState.tsx';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { Loading } from '../../components/Loading.tsx';
import { formatDateAndTime } from '../../formatting/dates.ts';
import { announce } from '../../notifications/notify.ts';
import classes from './Collections.module.css';
import { texts } from './texts.ts';

/** The screen in which the owner of a collection (a tour of slides, some with questions) reads the answers, as a table or a CSV file. */
export function CollectionAnswers() {
  const { collectionId = '' } = useParams();
  const collection = useCollection(collectionId);
  const answers = useAnswers(collectionId);
  // The table needs both responses: the answers have only the indexes of choices, and the collection has the texts of the choices.
  const failedQuery = [answers, collection].find(({ isLoadingError }) => isLoadingError);
  const isPending = failedQuery === undefined && (answers.isPending || collection.isPending);
  const [isDownloading, setDownloading] = useState(false);

  async function saveAsCsv() {
    setDownloading(true);
    try {
      saveFile(await downloadAnswers(collectionId), 'answers.csv');
    } catch (error) {
      announce({ success: false, message: messageOf(error, texts.answersFailed) });
    } finally {
      setDownloading(false);
    }
  }

  return (
    <>
      <Anchor component={Link} to="/collections" size="sm">
        {texts.allCollections}
      </Anchor>
      <Group justify="space-between" mb="lg">
        <Title order={1}>
          {collection.data === undefined ? texts.answers : texts.answersOf(collection.data.title)}
        </Title>
        <Button
          variant="default"
          leftSection={<IconDownload size={18} aria-hidden />}
          loading={isDownloading}
          disabled={(answers.data ?? []).length === 0}
          onClick={() => void saveAsCsv()}
        >
          {texts.downloadCsv}
        </Button>
      </Group>
      {isPending && <Loading label={texts.loading} />}
      {failedQuery && (
        <LoadFailed
          message={messageOf(failedQuery.error, texts.answersFailed)}
          onRetry={() => void failedQuery.refetch()}
        />
      )}
      {answers.data?.length === 0 && <EmptyState title={texts.noAnswers} hint={texts.noAnswersHint} />}
      {answers.data !== undefined && answers.data.length > 0 && collection.data !== undefined && (
        <AnswerTable
          answers={answers.data}
          choicesOfItem={(itemIndex) => choicesOf(collection.data, itemIndex)}
        />
      )}
    </>
  );
}

/** Returns the choices of an item's question; empty if it has none, or the item was removed. */
function choicesOf(collection: Collection, itemIndex: number | null): readonly string[] {
  return (itemIndex === null ? undefined : collection.items[itemIndex]?.question?.choices) ?? [];
}

interface AnswerTableProps {
  readonly answers: readonly CollectionAnswer[];
  /** @param itemIndex index of an item in the collection; null when the item was removed */
  readonly choicesOfItem: (itemIndex: number | null) => readonly string[];
}

/** Makes a section focusable, so that the arrow keys scroll a table that is wider than the window. */
const scrollableByKeyboard = { tabIndex: 0 };

/** Table of answers. In a narrow window, the style sheet turns each row into a card. */
function AnswerTable({ answers, choicesOfItem }: AnswerTableProps) {
  // `correct` is null for an answer that the server does not judge (a free text).
  const correctCount = answers.filter(({ correct }) => correct === true).length;
  const judgedCount = answers.filter(({ correct }) => correct !== null).length;
  return (
    <>
      {judgedCount > 0 && <Text mb="sm">{texts.correctAnswers(correctCount, judgedCount)}</Text>}
      <section className={classes.table} {...scrollableByKeyboard} aria-label={texts.answers}>
        <Table striped>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{texts.step}</Table.Th>
              <Table.Th>{texts.question}</Table.Th>
              <Table.Th>{texts.person}</Table.Th>
              <Table.Th>{texts.answer}</Table.Th>
              <Table.Th>{texts.result}</Table.Th>
              <Table.Th>{texts.attempts}</Table.Th>
              <Table.Th>{texts.answeredAt}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {answers.map((answer) => (
              <Table.Tr key={`${answer.item} ${answer.question} ${answer.uid ?? answer.person}`}>
                <Table.Td data-label={texts.step}>{answer.item === null ? '–' : answer.item + 1}</Table.Td>
                <Table.Td data-label={texts.question}>{answer.question ?? texts.removedQuestion}</Table.Td>
                <Table.Td data-label={texts.person}>{personOf(answer)}</Table.Td>
                <Table.Td data-label={texts.answer}>
                  {answerText(answer, choicesOfItem(answer.item))}
                </Table.Td>
                <Table.Td data-label={texts.result}>{texts.results[resultOf(answer)]}</Table.Td>
                <Table.Td data-label={texts.attempts}>{answer.attempts}</Table.Td>
                <Table.Td data-label={texts.answeredAt}>{formatDateAndTime(answer.answered_at)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </section>
    </>
  );
}

/** Returns the key of the label for the result. */
function resultOf({ correct }: CollectionAnswer): 'correct' | 'incorrect' | 'notJudged' {
  if (correct === null) return 'notJudged';
  return correct ? 'correct' : 'incorrect';
}

/** Returns the name of the user. The server calls visitors without an account "Visitor 1", "Visitor 2" and so on. */
function personOf({ uid, person }: CollectionAnswer): string {
  const visitorNumber = uid === null ? /^Visitor (\d+)$/.exec(person)?.[1] : undefined;
  return visitorNumber === undefined ? person : texts.visitor(Number(visitorNumber));
}

/**
 * Returns the answer as text: a free text, the texts of the chosen choices, or the coordinates of the marked point in level-0 pixels.
 * For a removed question with choices, only the indexes of the chosen choices are known, so the text numbers them from 1.
 */
function answerText({ answer, question }: CollectionAnswer, choices: readonly string[]): string {
  if (typeof answer === 'string') return answer;
  // The kind of a removed question is unknown. Whole numbers below 20 (`maxChoices`) are practically never the coordinates of a point.
  const canBeChoices = answer.every((value) => Number.isInteger(value) && value >= 0 && value < maxChoices);
  if (choices.length > 0 || (question === null && canBeChoices)) {
    return answer.map((choiceIndex) => choices[choiceIndex] ?? texts.choice(choiceIndex + 1)).join(', ');
  }
  return answer.map((coordinate) => Math.round(coordinate)).join(', ');
}
