import { Button, Checkbox, Group, Modal, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useCases } from '../../api/cases.ts';
import { useFoundImages } from '../../api/catalogue.ts';
import { useSavedViews } from '../../api/collections.ts';
import { texts as shared } from '../../language/texts.ts';
import classes from './Collections.module.css';
import { type DraftItem, draftItemOf } from './draft.ts';
import { texts } from './texts.ts';

type Kind = DraftItem['type'];

/** Something that can be added, with what distinguishes it from others of the same title. */
interface Offer {
  readonly item: Parameters<typeof draftItemOf>[0];
  readonly detail: string;
}

interface AddItemsProps {
  readonly onAdd: (items: readonly DraftItem[]) => void;
  readonly onClose: () => void;
}

/** Chooses saved views, slides and cases, and adds them at the end of a collection. */
export function AddItems({ onAdd, onClose }: AddItemsProps) {
  const [kind, setKind] = useState<Kind>('view');
  const [words, setWords] = useState('');
  const [chosen, setChosen] = useState<ReadonlyMap<string, Offer>>(new Map());
  const offers = useOffers(kind, words);

  function toggle(offer: Offer) {
    const next = new Map(chosen);
    const key = keyOf(offer);
    if (!next.delete(key)) next.set(key, offer);
    setChosen(next);
  }

  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={texts.addItems}
      closeButtonProps={{ 'aria-label': shared.close }}
      withinPortal={false}
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
          value={words}
          onChange={({ currentTarget }) => setWords(currentTarget.value)}
        />
        {offers.length === 0 ? (
          <Text c="dimmed">{kind === 'view' ? texts.noViewsHint : texts.nothingFound}</Text>
        ) : (
          <Stack gap="xs" className={classes.offers ?? ''} role="group" aria-label={texts.addItems}>
            {offers.map((offer) => (
              <Checkbox
                key={keyOf(offer)}
                label={offer.item.title}
                description={offer.detail}
                checked={chosen.has(keyOf(offer))}
                onChange={() => toggle(offer)}
              />
            ))}
          </Stack>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {texts.cancel}
          </Button>
          <Button
            disabled={chosen.size === 0}
            onClick={() => {
              onAdd([...chosen.values()].map(({ item }) => draftItemOf(item)));
              onClose();
            }}
          >
            {texts.add(chosen.size)}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function keyOf({ item }: Offer): string {
  return `${item.type}:${item.id}`;
}

function useOffers(kind: Kind, words: string): readonly Offer[] {
  const views = useSavedViews({ isEnabled: kind === 'view' });
  const images = useFoundImages(words, { isEnabled: kind === 'slide' });
  const cases = useCases({ isEnabled: kind === 'case' });
  if (kind === 'slide') {
    return (images.data ?? []).map(
      ({ id, file_name: name, dataset_name: dataset }): Offer => ({
        item: { type: 'slide', id, title: name || id, images: [id] },
        detail: dataset ?? '',
      }),
    );
  }
  const wanted = words.trim().toLocaleLowerCase('tr');
  const isFound = (title: string) => title.toLocaleLowerCase('tr').includes(wanted);
  if (kind === 'view') {
    return (views.data ?? [])
      .filter(({ title }) => isFound(title))
      .map(
        ({ id, title, text, field, image_id: imageId }): Offer => ({
          item: { type: 'view', id, title, images: [imageId], field },
          detail: text ?? '',
        }),
      )
      .reverse(); // in the order in which they were saved
  }
  return (cases.data ?? [])
    .filter(({ name }) => isFound(name))
    .map(
      ({ id, name, dataset, slides }): Offer => ({
        item: { type: 'case', id, title: name, images: slides.map(({ image_id }) => image_id) },
        detail: dataset,
      }),
    );
}
