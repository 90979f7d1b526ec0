import type { CollectionAnswer } from '@lamina/contract';
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

/** The answers to the questions of an own collection, as a table and as CSV. */
export function CollectionAnswers() {
  const { collectionId = '' } = useParams();
  const collection = useCollection(collectionId);
  const answers = useAnswers(collectionId);
  const [isDownloading, setDownloading] = useState(false);

  async function save() {
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
          onClick={() => void save()}
        >
          {texts.downloadCsv}
        </Button>
      </Group>
      {answers.isPending ? (
        <Loading label={texts.loading} />
      ) : answers.isError ? (
        <LoadFailed
          message={messageOf(answers.error, texts.answersFailed)}
          onRetry={() => void answers.refetch()}
        />
      ) : answers.data.length === 0 ? (
        <EmptyState title={texts.noAnswers} hint={texts.noAnswersHint} />
      ) : (
        <AnswerTable answers={answers.data} choicesOf={(item) => choicesOf(collection.data, item)} />
      )}
    </>
  );
}

function choicesOf(
  collection: ReturnType<typeof useCollection>['data'],
  item: number | null,
): readonly string[] {
  return (item === null ? undefined : collection?.items[item]?.question?.choices) ?? [];
}

interface AnswerTableProps {
  readonly answers: readonly CollectionAnswer[];
  readonly choicesOf: (item: number | null) => readonly string[];
}

/** A table that is wider than its place is scrolled by keyboard when it has the focus. */
const scrolledByKey = { tabIndex: 0 };

/** A table in a wide window, cards in a narrow one. */
function AnswerTable({ answers, choicesOf: choices }: AnswerTableProps) {
  const right = answers.filter(({ correct }) => correct === true).length;
  const judged = answers.filter(({ correct }) => correct !== null).length;
  return (
    <>
      {judged > 0 && <Text mb="sm">{texts.rightOf(right, judged)}</Text>}
      <section className={classes.table} {...scrolledByKey} aria-label={texts.answers}>
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
            {answers.map((each) => (
              <Table.Tr key={`${each.item} ${each.question} ${each.uid ?? each.person}`}>
                <Table.Td data-label={texts.step}>{each.item === null ? '–' : each.item + 1}</Table.Td>
                <Table.Td data-label={texts.question}>{each.question ?? texts.removedQuestion}</Table.Td>
                <Table.Td data-label={texts.person}>{personOf(each)}</Table.Td>
                <Table.Td data-label={texts.answer}>{answerText(each, choices(each.item))}</Table.Td>
                <Table.Td data-label={texts.result}>
                  {texts.results[each.correct === null ? 'open' : each.correct ? 'right' : 'wrong']}
                </Table.Td>
                <Table.Td data-label={texts.attempts}>{each.attempts}</Table.Td>
                <Table.Td data-label={texts.answeredAt}>{formatDateAndTime(each.answered_at)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </section>
    </>
  );
}

/** The server numbers visitors in English. */
function personOf({ uid, person }: CollectionAnswer): string {
  const number = uid === null ? /^Visitor (\d+)$/.exec(person)?.[1] : undefined;
  return number === undefined ? person : texts.visitor(Number(number));
}

function answerText({ answer, question }: CollectionAnswer, choices: readonly string[]): string {
  if (typeof answer === 'string') return answer;
  if (question !== null && choices.length > 0) {
    return answer.map((index) => choices[index] ?? `${index + 1}`).join(', ');
  }
  return answer.map((value) => Math.round(value)).join(', ');
}
