import { Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { chosenLanguageOr } from '../../language/language.ts';
import { texts } from './texts.ts';

/** The server rejects longer names of layers. */
export const maxLayerNameLength = 200;

interface RenameDialogProps {
  readonly name: string;
  readonly onRename: (name: string) => void;
  readonly onClose: () => void;
}

/** Asks for the new name of a layer. */
export function RenameDialog({ name, onRename, onClose }: RenameDialogProps) {
  const [value, setValue] = useState(name);
  const newName = value.trim();
  return (
    <Modal
      opened
      onClose={onClose}
      title={texts.renameTitle}
      lang={chosenLanguageOr('en')}
      portalProps={{ target: 'main' }} // elsewhere, its header would be a second header of the page
      closeButtonProps={{ 'aria-label': texts.close }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (newName === '') return;
          if (newName !== name) onRename(newName);
          onClose();
        }}
      >
        <Stack>
          <TextInput
            label={texts.layerName}
            value={value}
            maxLength={maxLayerNameLength}
            data-autofocus
            onChange={(event) => setValue(event.currentTarget.value)}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {texts.cancel}
            </Button>
            <Button type="submit" disabled={newName === ''}>
              {texts.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
