import { Button, Checkbox, Group, Modal, NumberInput, Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { makeCase, useCases } from '../../api/cases.ts';
import { useDatasetImages } from '../../api/catalogue.ts';
import { texts as shared } from '../../language/texts.ts';
import { announce } from '../../notifications/notify.ts';
import classes from './CaseManagement.module.css';
import { type NamingRule, type ProposedCase, proposeCases } from './propose-cases.ts';
import { texts } from './texts.ts';

const separators: readonly NamingRule['separator'][] = ['_', '-', ' ', '.'];

interface ProposeCasesProps {
  readonly dataset: string;
  readonly onClose: () => void;
}

/** Reads cases out of the file names of a dataset, shows them, and makes those that are selected. */
export function ProposeCases({ dataset, onClose }: ProposeCasesProps) {
  const images = useDatasetImages(dataset).data ?? [];
  const cases = useCases({ dataset }).data ?? [];
  const [rule, setRule] = useState<NamingRule>({ separator: '_', caseParts: 1 });
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [isRunning, setRunning] = useState(false);
  const taken = new Set(cases.flatMap(({ slides }) => slides.map(({ image_id }) => image_id)));
  const proposed = proposeCases(images, rule, taken);
  const selected = proposed.filter(({ name }) => !left.has(name));

  async function make() {
    setRunning(true);
    let count = 0;
    for (const each of selected) {
      const result = await makeCase(wantedOf(dataset, each));
      if (!result.success) {
        announce(result);
        break;
      }
      count += 1;
    }
    setRunning(false);
    if (count > 0) announce({ success: true, message: texts.made(count) });
    if (count === selected.length) onClose();
  }

  return (
    <Modal
      opened
      onClose={onClose}
      size="xl"
      title={texts.propose}
      closeButtonProps={{ 'aria-label': shared.close }}
      withinPortal={false}
    >
      <Stack>
        <Text size="sm">{texts.proposeHint}</Text>
        <Group align="flex-end">
          <Select
            label={texts.separator}
            data={separators.map((value) => ({ value, label: texts.separators[value] }))}
            value={rule.separator}
            allowDeselect={false}
            onChange={(value) =>
              setRule({ ...rule, separator: separators.find((each) => each === value) ?? '_' })
            }
          />
          <NumberInput
            label={texts.caseParts}
            min={1}
            max={9}
            allowDecimal={false}
            value={rule.caseParts}
            onChange={(value) => setRule({ ...rule, caseParts: Math.max(1, Number(value) || 1) })}
          />
        </Group>
        {proposed.length === 0 ? (
          <Text c="dimmed">{texts.nothingProposed}</Text>
        ) : (
          <ul className={classes.proposed}>
            {proposed.map((each) => (
              <li key={each.name}>
                <Checkbox
                  label={`${each.name} (${texts.slideCount(each.slides.length)})`}
                  description={each.slides
                    .map(({ block, stain, fileName }) =>
                      [fileName, [block, stain].filter(Boolean).join(' ')].join(' → '),
                    )
                    .join(', ')}
                  checked={!left.has(each.name)}
                  onChange={({ currentTarget }) => {
                    const next = new Set(left);
                    if (currentTarget.checked) next.delete(each.name);
                    else next.add(each.name);
                    setLeft(next);
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
          <Button loading={isRunning} disabled={selected.length === 0} onClick={() => void make()}>
            {texts.makeCases(selected.length)}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function wantedOf(dataset: string, { name, slides }: ProposedCase) {
  return {
    dataset,
    name,
    slides: slides.map(({ imageId, block, stain }) => ({ image_id: imageId, block, stain })),
  };
}
