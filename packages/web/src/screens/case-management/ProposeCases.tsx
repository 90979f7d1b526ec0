import { Button, Checkbox, Group, Modal, NumberInput, Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { makeCase, useCases } from '../../api/cases.ts';
import { useDatasetImages } from '../../api/catalogue.ts';
import { texts as sharedTexts } from '../../language/texts.ts';
import { announce } from '../../notifications/notify.ts';
import classes from './CaseManagement.module.css';
import { blockAndStainOf, type NamingRule, type ProposedCase, proposeCases } from './propose-cases.ts';
import { texts } from './texts.ts';

const separators: readonly NamingRule['separator'][] = ['_', '-', ' ', '.'];

interface ProposeCasesProps {
  readonly dataset: string;
  readonly onClose: () => void;
}

/** Dialog that proposes cases (the slides of one specimen) from the file names of a dataset, and creates the selected cases. */
export function ProposeCases({ dataset, onClose }: ProposeCasesProps) {
  const images = useDatasetImages(dataset).data ?? []; // all slides of the dataset; the API calls slides images
  const cases = useCases({ dataset }).data ?? [];
  const [rule, setRule] = useState<NamingRule>({ separator: '_', caseParts: 1 });
  const [excludedNames, setExcludedNames] = useState<ReadonlySet<string>>(new Set());
  const [isRunning, setRunning] = useState(false);
  const usedImageIds = new Set(cases.flatMap(({ slides }) => slides.map(({ image_id }) => image_id)));
  const proposedCases = proposeCases(images, rule, usedImageIds);
  const selectedCases = proposedCases.filter(({ name }) => !excludedNames.has(name));

  /** Creates the selected cases one after the other; stops at the first failure. */
  async function createCases() {
    setRunning(true);
    let createdCount = 0;
    for (const proposedCase of selectedCases) {
      const result = await makeCase(newCaseOf(dataset, proposedCase));
      if (!result.success) {
        announce(result);
        break;
      }
      createdCount += 1;
    }
    setRunning(false);
    if (createdCount > 0) announce({ success: true, message: texts.casesCreated(createdCount) });
    if (createdCount === selectedCases.length) onClose();
  }

  return (
    <Modal
      opened
      onClose={onClose}
      size="xl"
      title={texts.propose}
      closeButtonProps={{ 'aria-label': sharedTexts.close }}
      withinPortal={false} // keeps it inside <main>: in a portal, the <header> of the dialog would count as a second page header
    >
      <Stack>
        <Text size="sm">{texts.proposeHint}</Text>
        <Group align="flex-end">
          <Select
            label={texts.separator}
            data={separators.map((value) => ({ value, label: texts.separators[value] }))}
            value={rule.separator}
            allowDeselect={false}
            // `find` narrows the string of the field to the type of a separator.
            onChange={(value) =>
              setRule({ ...rule, separator: separators.find((separator) => separator === value) ?? '_' })
            }
          />
          <NumberInput
            label={texts.caseParts}
            min={1}
            max={9}
            allowDecimal={false}
            value={rule.caseParts}
            onChange={(value) => setRule({ ...rule, caseParts: Math.max(1, Number(value) || 1) })} // an empty field counts as 1
          />
        </Group>
        {proposedCases.length === 0 ? (
          <Text c="dimmed">{texts.nothingProposed}</Text>
        ) : (
          <ul className={classes.proposed}>
            {proposedCases.map(({ name, slides }) => (
              <li key={name}>
                <Checkbox
                  label={`${name} (${texts.slideCount(slides.length)})`}
                  description={slides
                    .map((slide) => `${slide.fileName} → ${blockAndStainOf(slide)}`)
                    .join(', ')}
                  checked={!excludedNames.has(name)}
                  onChange={({ currentTarget }) => {
                    const next = new Set(excludedNames);
                    if (currentTarget.checked) next.delete(name);
                    else next.add(name);
                    setExcludedNames(next);
                  }}
                />
              </li>
            ))}
          </ul>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {texts.cancel}
          </Button>
          <Button
            loading={isRunning}
            disabled={selectedCases.length === 0}
            onClick={() => void createCases()}
          >
            {texts.createCases(selectedCases.length)}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** Returns the body of the API call that creates the case. */
function newCaseOf(dataset: string, { name, slides }: ProposedCase) {
  return {
    dataset,
    name,
    slides: slides.map(({ imageId, block, stain }) => ({ image_id: imageId, block, stain })),
  };
}
