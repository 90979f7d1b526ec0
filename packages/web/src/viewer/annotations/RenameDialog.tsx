import { Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { chosenLanguageOr } from '../../language/language.ts';
import { texts } from './texts.ts';

/** Longest name of a layer that the server accepts, in characters. */
export const maxLayerNameLength = 200;

interface RenameDialogProps {
  readonly name: string;
  readonly onRename: (name: string) => void;
  readonly onClose: () => void;
}

/** Asks for the new name of a layer. */
export function RenameDialog({ name, onRename, onClose }: RenameDialogProps) {
  const [typedName, setTypedName] = useState(name);
  const newName = typedName.trim();
  return (
    <Modal
      opened
      onClose={onClose}
      title={texts.renameTitle}
      lang={chosenLanguageOr('en')} // English unless the user has chosen Turkish
      portalProps={{ target: 'main' }} // outside of `main`, the dialog's header would count as a second header of the page
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
            value={typedName}
            maxLength={maxLayerNameLength}
            data-autofocus
            onChange={(event) => setTypedName(event.currentTarget.value)}
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
