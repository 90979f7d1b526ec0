import { Button, Checkbox, Group, Modal, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useCases } from '../../api/cases.ts';
import { useImageSearch } from '../../api/catalogue.ts';
import { useSavedViews } from '../../api/collections.ts';
import { texts as sharedTexts } from '../../language/texts.ts';
import classes from './Collections.module.css';
import { type DraftItem, draftItemOf } from './draft.ts';
import { texts } from './texts.ts';

type Kind = DraftItem['type'];

/** A saved view, slide or case that the user can add to the collection. */
interface Candidate {
  readonly item: Parameters<typeof draftItemOf>[0]; // `images`: ids of the slides that the item contains
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
  const candidates = useCandidates(kind, search);

  function toggle(candidate: Candidate) {
    const nextChosen = new Map(chosenCandidates);
    const key = keyOf(candidate);
    if (!nextChosen.delete(key)) nextChosen.set(key, candidate);
    setChosenCandidates(nextChosen);
  }

  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={texts.addItems}
      closeButtonProps={{ 'aria-label': sharedTexts.close }}
      withinPortal={false} // keeps it inside <main>: in a portal, the <header> of the dialog would count as a second page header
    >
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
        {candidates.length === 0 ? (
          <Text c="dimmed">
            {kind === 'view' && search.trim() === '' ? texts.noViewsHint : texts.nothingFound}
          </Text>
        ) : (
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
    </Modal>
  );
}

/** Returns a key that is unique among candidates of all kinds. */
function keyOf({ item }: Candidate): string {
  return `${item.type}:${item.id}`;
}

/** Returns the items of a kind that match the search. The server searches slides; the browser searches the titles of views and cases. */
function useCandidates(kind: Kind, search: string): readonly Candidate[] {
  // Only the query for this kind is enabled.
  const views = useSavedViews({ isEnabled: kind === 'view' });
  const images = useImageSearch(search, { isEnabled: kind === 'slide' });
  const cases = useCases({ isEnabled: kind === 'case' });
  if (kind === 'slide') {
    return (images.data ?? []).map(
      ({ id, file_name: name, dataset_name: dataset }): Candidate => ({
        item: { type: 'slide', id, title: name || id, images: [id] },
        detail: dataset ?? '',
      }),
    );
  }
  // Titles may be Turkish, and the Turkish rules convert I to ı and İ to i.
  const searchedText = search.trim().toLocaleLowerCase('tr');
  const matchesSearch = (title: string) => title.toLocaleLowerCase('tr').includes(searchedText);
  if (kind === 'view') {
    return (views.data ?? [])
      .filter(({ title }) => matchesSearch(title))
      .map(
        ({ id, title, text, field, image_id: imageId }): Candidate => ({
          item: { type: 'view', id, title, images: [imageId], field },
          detail: text ?? '',
        }),
      )
      .reverse(); // the API returns the most recently changed view first; this list shows it last
  }
  return (cases.data ?? [])
    .filter(({ name }) => matchesSearch(name))
    .map(
      ({ id, name, dataset, slides }): Candidate => ({
        item: { type: 'case', id, title: name, images: slides.map(({ image_id }) => image_id) },
        detail: dataset,
      }),
    );
}
