import { foldDiacritics, matchesWords, searchWords } from '@lamina/contract';
import { Button, Checkbox, Group, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';
import { useCases } from '../../api/cases.ts';
import { useImageSearch } from '../../api/catalogue.ts';
import { messageOf } from '../../api/client.ts';
import { useSavedViews } from '../../api/collections.ts';
import { Dialog } from '../../components/Dialog.tsx';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { Loading } from '../../components/Loading.tsx';
import classes from './Collections.module.css';
import { type DraftItem, draftItemOf } from './draft.ts';
import { texts } from './texts.ts';

type Kind = DraftItem['type'];

/** A saved view, slide or case that the user can add to the collection. */
interface Candidate {
  /** The values for the draft item; `images` are the ids of the slides that the item contains. */
  readonly item: Parameters<typeof draftItemOf>[0];
  /** Text below the title that tells items with the same title apart; may be empty. */
  readonly detail: string;
}

interface AddItemsProps {
  readonly onAdd: (items: readonly DraftItem[]) => void;
  readonly onClose: () => void;
}

/**
 * Dialog in which the user chooses saved views (named positions on slides), slides and cases, and adds them to a collection (a sequence
 * of items that readers step through).
 */
export function AddItems({ onAdd, onClose }: AddItemsProps) {
  const [kind, setKind] = useState<Kind>('view');
  const [search, setSearch] = useState('');
  const [chosenCandidates, setChosenCandidates] = useState<ReadonlyMap<string, Candidate>>(new Map());
  const { candidates, isPending, error, reload } = useCandidates(kind, search);

  function toggle(candidate: Candidate) {
    const nextChosen = new Map(chosenCandidates);
    const key = keyOf(candidate);
    const wasChosen = nextChosen.delete(key);
    if (!wasChosen) nextChosen.set(key, candidate);
    setChosenCandidates(nextChosen);
  }

  return (
    <Dialog title={texts.addItems} size="lg" onClose={onClose}>
      <Stack>
        <SegmentedControl
          aria-label={texts.kindToAdd}
          value={kind}
          onChange={(next) => setKind(next as Kind)}
          data={[
            { value: 'view', label: texts.views },
            { value: 'slide', label: texts.slides },
            { value: 'case', label: texts.cases },
          ]}
        />
        <TextInput
          type="search"
          aria-label={texts.search}
          placeholder={texts.search}
          value={search}
          onChange={({ currentTarget }) => setSearch(currentTarget.value)}
        />
        {isPending && <Loading label={texts.loading} />}
        {error !== null && <LoadFailed message={messageOf(error, texts.candidatesFailed)} onRetry={reload} />}
        {candidates?.length === 0 && (
          <Text c="dimmed">
            {kind === 'view' && search.trim() === '' ? texts.noViewsHint : texts.nothingFound}
          </Text>
        )}
        {candidates !== null && candidates.length > 0 && (
          <Stack gap="xs" className={classes.candidates ?? ''} role="group" aria-label={texts.addItems}>
            {candidates.map((candidate) => (
              <Checkbox
                key={keyOf(candidate)}
                label={candidate.item.title}
                description={candidate.detail}
                checked={chosenCandidates.has(keyOf(candidate))}
                onChange={() => toggle(candidate)}
              />
            ))}
          </Stack>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {texts.cancel}
          </Button>
          <Button
            disabled={chosenCandidates.size === 0}
            onClick={() => {
              onAdd([...chosenCandidates.values()].map(({ item }) => draftItemOf(item)));
              onClose();
            }}
          >
            {texts.add(chosenCandidates.size)}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

/** Returns a key that is unique among candidates of all kinds. */
function keyOf({ item }: Candidate): string {
  return `${item.type}:${item.id}`;
}

interface CandidateSearch {
  /** The items that match the search; null while they are loading, and when they could not be loaded. */
  readonly candidates: readonly Candidate[] | null;
  readonly isPending: boolean;
  /** Why the items could not be loaded; null unless loading has failed. */
  readonly error: Error | null;
  readonly reload: () => void;
}

/** Finds the items of a kind that match the search. The server searches slides; the browser searches the titles of views and cases. */
function useCandidates(kind: Kind, search: string): CandidateSearch {
  // Only the query for this kind is enabled.
  const views = useSavedViews({ isEnabled: kind === 'view' });
  const images = useImageSearch(search, { isEnabled: kind === 'slide' });
  const cases = useCases({ isEnabled: kind === 'case' });
  const words = searchWords(search);
  const isFound = (title: string) => matchesWords(foldDiacritics(title), words);
  if (kind === 'slide') {
    const found = images.data?.map(
      ({ id, file_name: name, dataset_name: dataset }): Candidate => ({
        item: { type: 'slide', id, title: name || id, images: [id] },
        detail: dataset ?? '',
      }),
    );
    return candidateSearchOf(images, found);
  }
  if (kind === 'view') {
    const found = views.data
      ?.filter(({ title }) => isFound(title))
      .map(
        ({ id, title, text, field, image_id: imageId }): Candidate => ({
          item: { type: 'view', id, title, images: [imageId], field },
          detail: text ?? '',
        }),
      )
      .reverse(); // the API returns the most recently changed view first; this list shows it last
    return candidateSearchOf(views, found);
  }
  const found = cases.data
    ?.filter(({ name }) => isFound(name))
    .map(
      ({ id, name, dataset, slides }): Candidate => ({
        item: { type: 'case', id, title: name, images: slides.map(({ image_id }) => image_id) },
        detail: dataset,
      }),
    );
  return candidateSearchOf(cases, found);
}

/** Returns the found items with the state of the query that loads them. @param found undefined while the query has no data */
function candidateSearchOf(
  { isPending, isLoadingError, error, refetch }: UseQueryResult,
  found: readonly Candidate[] | undefined,
): CandidateSearch {
  return {
    candidates: found ?? null,
    isPending,
    error: isLoadingError ? error : null,
    reload: () => void refetch(),
  };
}
