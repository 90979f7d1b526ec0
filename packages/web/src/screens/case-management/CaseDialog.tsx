import type { Case, CaseSlide, Image } from '@lamina/contract';
import { ActionIcon, Alert, Button, Group, Select, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconTrash } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import { changeCase, makeCase } from '../../api/cases.ts';
import { useDatasetImages, useImagesById } from '../../api/catalogue.ts';
import { messageOf } from '../../api/client.ts';
import { Dialog } from '../../components/Dialog.tsx';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { Loading } from '../../components/Loading.tsx';
import { announce } from '../../notifications/notify.ts';
import classes from './CaseManagement.module.css';
import { texts } from './texts.ts';

const slideFields = ['block', 'stain', 'note'] as const; // block: the piece of the specimen from which the slide was cut

interface CaseDialogProps {
  readonly dataset: string;
  /** The case to edit; null when the dialog creates a case. */
  readonly existingCase: Case | null;
  readonly onClose: () => void;
}

/** Dialog that creates or edits a case (the slides of one specimen): its name, its description and its slides in order. */
export function CaseDialog({ dataset, existingCase, onClose }: CaseDialogProps) {
  const images = useDatasetImages(dataset); // all ready slides of the dataset; the API calls slides images
  const [name, setName] = useState(existingCase?.name ?? '');
  const [description, setDescription] = useState(existingCase?.description ?? '');
  const [slides, setSlides] = useState<readonly CaseSlide[]>(existingCase?.slides ?? []);
  // The case may have slides that are not ready, or that were moved to another dataset.
  const otherIds = slides
    .map(({ image_id }) => image_id)
    .filter((imageId) => images.data?.every(({ id }) => id !== imageId));
  const otherImages = useImagesById(otherIds);
  const addField = useRef<HTMLInputElement>(null);
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<string | null>(null);

  async function save() {
    if (name.trim() === '') return setError(texts.nameRequired);
    setRunning(true);
    const values = { name: name.trim(), description: description.trim() || null, slides: [...slides] };
    const result =
      existingCase === null
        ? await makeCase({ dataset, ...values })
        : await changeCase(existingCase.id, { ...values, version: existingCase.version }); // the server rejects an outdated version
    setRunning(false);
    if (!result.success) return setError(result.message);
    announce(result);
    onClose();
  }

  return (
    <Dialog
      title={existingCase === null ? texts.newCase : texts.editOf(existingCase.name)}
      size="xl"
      isRunning={isRunning}
      onClose={onClose}
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
            maxLength={200} // all lengths in this file are limits of the API
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
          {images.isPending && <Loading label={texts.slidesLoading} />}
          {images.isLoadingError && (
            <LoadFailed
              message={messageOf(images.error, texts.slidesFailed)}
              onRetry={() => void images.refetch()}
            />
          )}
          {images.data !== undefined && (
            <>
              <SlideRows
                images={[...images.data, ...otherImages]}
                slides={slides}
                onChange={setSlides}
                onRemoveLast={() => addField.current?.focus()}
              />
              <Select
                ref={addField}
                label={texts.addSlide}
                placeholder={texts.search}
                searchable
                limit={50} // suggestions shown at a time
                value={null} // the field adds slides to the list above, and stays empty
                data={images.data
                  .filter(({ id }) => slides.every(({ image_id }) => image_id !== id))
                  .map(({ id, file_name }) => ({ value: id, label: file_name || id }))}
                onChange={(id) => {
                  if (id !== null)
                    setSlides([...slides, { image_id: id, stain: null, block: null, note: null }]);
                }}
              />
            </>
          )}
          {error !== null && <Alert color="red">{error}</Alert>}
          <Group justify="flex-end">
            <Button variant="default" disabled={isRunning} onClick={onClose}>
              {texts.cancel}
            </Button>
            <Button type="submit" loading={isRunning}>
              {texts.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

interface SlideRowsProps {
  readonly images: readonly Image[];
  readonly slides: readonly CaseSlide[];
  readonly onChange: (slides: readonly CaseSlide[]) => void;
  /** Called when the slide at the end of the list is removed, so that the keyboard focus gets a new place. */
  readonly onRemoveLast: () => void;
}

/** The slides of the case, with fields for block, stain and note, and buttons that move or remove a slide. */
function SlideRows({ images, slides, onChange, onRemoveLast }: SlideRowsProps) {
  if (slides.length === 0) return <Text c="dimmed">{texts.noSlides}</Text>;
  const move = (fromIndex: number, toIndex: number) => {
    const slide = slides[fromIndex];
    if (slide !== undefined) onChange(slides.toSpliced(fromIndex, 1).toSpliced(toIndex, 0, slide));
  };
  /** Removes a slide, and moves the focus from its button to the next slide. @param row the list element of the slide */
  function remove(index: number, row: HTMLElement | null) {
    const nextRow = row?.nextElementSibling;
    if (nextRow instanceof HTMLElement) nextRow.focus();
    else onRemoveLast();
    onChange(slides.toSpliced(index, 1));
  }
  return (
    <ol className={classes.slides}>
      {slides.map((slide, index) => {
        const label = images.find(({ id }) => id === slide.image_id)?.file_name || slide.image_id;
        const setField = (field: (typeof slideFields)[number], value: string) =>
          onChange(slides.with(index, { ...slide, [field]: value }));
        return (
          // `tabIndex`: gets the focus when the slide before it is removed
          <li key={slide.image_id} className={classes.slide} tabIndex={-1}>
            <Text className={classes.slideName ?? ''} size="sm">
              {label}
            </Text>
            <Group gap="xs">
              {slideFields.map((field) => (
                <TextInput
                  key={field}
                  className={classes.slideField ?? ''}
                  size="xs"
                  aria-label={`${texts[field]}: ${label}`}
                  placeholder={texts[field]}
                  maxLength={field === 'note' ? 1000 : 100}
                  value={slide[field] ?? ''}
                  onChange={({ currentTarget }) => setField(field, currentTarget.value)}
                />
              ))}
              <ActionIcon
                variant="default"
                size={30}
                aria-label={texts.moveUpOf(label)}
                disabled={index === 0}
                onClick={() => move(index, index - 1)}
              >
                <IconArrowUp size={16} aria-hidden />
              </ActionIcon>
              <ActionIcon
                variant="default"
                size={30}
                aria-label={texts.moveDownOf(label)}
                disabled={index === slides.length - 1}
                onClick={() => move(index, index + 1)}
              >
                <IconArrowDown size={16} aria-hidden />
              </ActionIcon>
              <ActionIcon
                variant="subtle"
                color="eosin" // the theme's rose, named after the stain
                size={30}
                aria-label={texts.removeOf(label)}
                onClick={({ currentTarget }) => remove(index, currentTarget.closest('li'))}
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
