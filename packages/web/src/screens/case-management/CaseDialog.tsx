import type { Case, CaseSlide, Image } from '@lamina/contract';
import {
  ActionIcon,
  Alert,
  Button,
  Group,
  Modal,
  Select,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { changeCase, makeCase } from '../../api/cases.ts';
import { useDatasetImages } from '../../api/catalogue.ts';
import { texts as shared } from '../../language/texts.ts';
import { announce } from '../../notifications/notify.ts';
import classes from './CaseManagement.module.css';
import { texts } from './texts.ts';

interface CaseDialogProps {
  readonly dataset: string;
  /** Null: a new case. */
  readonly before: Case | null;
  readonly onClose: () => void;
}

/** Name, description and slides of a case. */
export function CaseDialog({ dataset, before, onClose }: CaseDialogProps) {
  const images = useDatasetImages(dataset).data ?? [];
  const [name, setName] = useState(before?.name ?? '');
  const [description, setDescription] = useState(before?.description ?? '');
  const [slides, setSlides] = useState<readonly CaseSlide[]>(before?.slides ?? []);
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<string | null>(null);

  async function save() {
    if (name.trim() === '') return setError(texts.nameRequired);
    setRunning(true);
    const wanted = { name: name.trim(), description: description.trim() || null, slides: [...slides] };
    const result =
      before === null
        ? await makeCase({ dataset, ...wanted })
        : await changeCase(before.id, { ...wanted, version: before.version });
    setRunning(false);
    if (!result.success) return setError(result.message);
    announce(result);
    onClose();
  }

  return (
    <Modal
      opened
      onClose={onClose}
      size="xl"
      title={before === null ? texts.newCase : texts.editOf(before.name)}
      closeButtonProps={{ 'aria-label': shared.close }}
      withinPortal={false}
    >
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <Stack>
          <TextInput
            label={texts.name}
            description={texts.nameHint}
            value={name}
            maxLength={200}
            data-autofocus
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          <Textarea
            label={texts.description}
            autosize
            minRows={1}
            maxRows={6}
            maxLength={4000}
            value={description}
            onChange={({ currentTarget }) => setDescription(currentTarget.value)}
          />
          <SlideRows images={images} slides={slides} onChange={setSlides} />
          <Select
            label={texts.addSlide}
            placeholder={texts.search}
            searchable
            limit={50}
            value={null}
            data={images
              .filter(({ id }) => slides.every(({ image_id }) => image_id !== id))
              .map(({ id, file_name }) => ({ value: id, label: file_name || id }))}
            onChange={(id) => {
              if (id !== null) setSlides([...slides, { image_id: id, stain: null, block: null, note: null }]);
            }}
          />
          {error !== null && <Alert color="red">{error}</Alert>}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {texts.cancel}
            </Button>
            <Button type="submit" loading={isRunning}>
              {texts.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

interface SlideRowsProps {
  readonly images: readonly Image[];
  readonly slides: readonly CaseSlide[];
  readonly onChange: (slides: readonly CaseSlide[]) => void;
}

function SlideRows({ images, slides, onChange }: SlideRowsProps) {
  if (slides.length === 0) return <Text c="dimmed">{texts.noSlides}</Text>;
  const move = (from: number, to: number) => {
    const slide = slides[from];
    if (slide !== undefined) onChange(slides.toSpliced(from, 1).toSpliced(to, 0, slide));
  };
  return (
    <ol className={classes.slides}>
      {slides.map((slide, place) => {
        const label = images.find(({ id }) => id === slide.image_id)?.file_name || slide.image_id;
        const set = (field: 'stain' | 'block' | 'note', value: string) =>
          onChange(slides.with(place, { ...slide, [field]: value }));
        return (
          <li key={slide.image_id} className={classes.slide}>
            <Text className={classes.slideName ?? ''} size="sm">
              {label}
            </Text>
            <Group gap="xs">
              {(['block', 'stain', 'note'] as const).map((field) => (
                <TextInput
                  key={field}
                  size="xs"
                  aria-label={`${texts[field]}: ${label}`}
                  placeholder={texts[field]}
                  maxLength={field === 'note' ? 1000 : 100}
                  value={slide[field] ?? ''}
                  onChange={({ currentTarget }) => set(field, currentTarget.value)}
                />
              ))}
              <ActionIcon
                variant="default"
                size={30}
                aria-label={texts.moveUpOf(label)}
                disabled={place === 0}
                onClick={() => move(place, place - 1)}
              >
                <IconArrowUp size={16} aria-hidden />
              </ActionIcon>
              <ActionIcon
                variant="default"
                size={30}
                aria-label={texts.moveDownOf(label)}
                disabled={place === slides.length - 1}
                onClick={() => move(place, place + 1)}
              >
                <IconArrowDown size={16} aria-hidden />
              </ActionIcon>
              <ActionIcon
                variant="subtle"
                color="eosin"
                size={30}
                aria-label={texts.removeOf(label)}
                onClick={() => onChange(slides.toSpliced(place, 1))}
              >
                <IconTrash size={16} aria-hidden />
              </ActionIcon>
            </Group>
          </li>
        );
      })}
    </ol>
  );
}
